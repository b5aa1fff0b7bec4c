"""The tasks: a folder each, and what several of them share.

`base` has the classes that tasks inherit from; `block`, `features`, `parameters`, `tokens`,
`reading` and `numeric` have what these need; `trees` and `images` serve several tasks. A task's
folder holds its definition (`task`), its reference solver (`solver`), and the modules `audit` and
`drawing`, which only auditing and drawing load (see `optional_modules`). `registry` finds tasks by
name, `describe` shows them, `new_task` writes a package for a new task. Of the rest of the package
this room imports only `seeding`, `errors` and `text`.
"""
