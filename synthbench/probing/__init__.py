"""Probes: do rows from anywhere leak, repeat, contradict themselves or depend on the process?"""
