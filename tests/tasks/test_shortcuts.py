"""What shortcuts are made of: look-ups by key, codes of rows."""

from collections import Counter

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from synthbench.tasks.audit_spec import by_key, codes, fixed, numbers


def columns(keys, labels):
    return {"key": pa.array(keys, pa.int64()), "label": pa.array(labels, pa.int64())}


@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 4)), min_size=1))
def test_a_look_up_gives_the_most_frequent_label_of_a_key_of_equal_ones_the_smallest(rows):
    keys, labels = map(list, zip(*rows, strict=True))
    predict = by_key("", "", lambda given: numbers(given["key"])).fit(columns(keys, labels))
    asked = list(range(-4, 5))
    found = predict(columns(asked, [0] * len(asked)))

    def most_frequent(of):
        return min(Counter(of).items(), key=lambda one: (-one[1], one[0]))[0]

    for key, answer in zip(asked, found, strict=True):
        of_key = [label for other, label in rows if other == key]
        assert answer == most_frequent(of_key or labels)


def test_keys_may_have_several_parts_and_their_order_matters():
    def key(given):
        value = numbers(given["key"])
        return np.column_stack([value // 2, value % 2])

    train = columns([0, 1, 2, 3] * 3, [5, 6, 7, 8] * 3)
    predict = by_key("", "", key).fit(train)
    assert list(predict(columns([3, 2, 1, 0, 9], [0] * 5))) == [8, 7, 6, 5, 5]


def test_a_fixed_answer_needs_nothing_to_fit():
    assert fixed("", "", lambda given: [len(given["key"])]).fit({})(columns([1], [1])) == [1]


def test_codes_are_equal_for_equal_rows_alone_zeros_at_the_end_aside():
    rows = np.array([[1, 2, 0], [1, 2, 0], [2, 1, 0], [0, 1, 2], [1, 2, 3], [-1, 2, 0]])
    found = codes(rows)
    assert found[0] == found[1]
    assert len(set(found.tolist())) == 5
    assert codes(rows[:1, :2])[0] == found[0]
