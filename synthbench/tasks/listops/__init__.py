"""ListOps by dependency depth (NDR 3.3): the task, its solver and its distribution."""
