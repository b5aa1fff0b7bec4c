"""The checks of `synthbench check-task`: does a task keep its promises?"""
