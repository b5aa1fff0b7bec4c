"""The checks of `synthbench check`: does a task keep its promises?"""
