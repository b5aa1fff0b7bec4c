"""Automata: expressions, minimal automata, windows, the solver by `re`, and how words are drawn."""

import collections
import itertools
import re

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import synthbench
from synthbench.auditing.variant import audit_spec_of
from synthbench.errors import ParameterError
from synthbench.seeding import Draws
from synthbench.tasks.automaton import solver
from synthbench.tasks.automaton.language import language
from synthbench.tasks.automaton.task import EXPRESSIONS, Automaton
from synthbench.tasks.automaton.words import WordSampler
from synthbench.tasks.describe import draw_row
from synthbench.tasks.worked import worked_steps
from tests.tasks.agreement import assert_uniform
from tests.tasks.blocks import assert_sound, propose, rows_of

#: Expressions of up to a dozen letters or so, ambiguous ones and nested repetitions among them.
EXPRESSION = st.recursive(
    st.sampled_from("abc"),
    lambda part: st.one_of(
        st.tuples(part, part).map("".join),
        st.tuples(part, part).map(lambda two: f"({two[0]}|{two[1]})"),
        st.tuples(part, st.sampled_from("*+")).map(lambda two: f"({two[0]}){two[1]}"),
    ),
    max_leaves=8,
)


def words_up_to(letters, longest):
    for length in range(longest + 1):
        yield from map("".join, itertools.product(letters, repeat=length))


def state_of(made, word):
    state = 0
    for letter in word:
        state = made.moves[state, made.letters.index(letter)]
    return state


def language_or_none(expression):
    try:
        return language(expression)
    except ParameterError as error:
        assert re.search("automaton has 1 of 2|only letter|match alike", str(error))
        return None


# The automaton of an expression.


@given(EXPRESSION)
@settings(max_examples=150, deadline=None)
def test_an_automaton_accepts_what_re_matches_and_is_minimal(expression):
    if (made := language_or_none(expression)) is None:
        return
    is_in = re.compile(expression).fullmatch
    for word in words_up_to(made.letters, 5):
        assert made.accepts[state_of(made, word)] == bool(is_in(word))
    accepted = [
        tuple(bool(is_in(word + more)) for more in made.continuations) for word in made.words
    ]
    assert len(set(accepted)) == len(made.moves)  # so no two states can be merged
    ordered = sorted(made.words, key=lambda word: (len(word), word))
    assert list(made.words) == ordered
    rule = solver.Rule(expression, made.letters, made.words, made.continuations)
    for state, row in enumerate(made.moves.tolist()):
        assert [solver.next_state(rule, state, letter) for letter in made.letters] == row


@given(EXPRESSION)
@settings(max_examples=100, deadline=None)
def test_a_window_is_the_least_that_gives_the_state_of_live_words(expression):
    if (made := language_or_none(expression)) is None:
        return
    live = [w for w in words_up_to(made.letters, 6) if made.live[state_of(made, w)]]
    for window in range(4):
        states = collections.defaultdict(set)
        for word in live:
            if len(word) >= window:
                states[word[len(word) - window :]].add(state_of(made, word))
        gives = all(len(found) == 1 for found in states.values())
        known = made.window is not None and made.window <= window
        assert gives or not known
        # Every state has a short word in most languages, and then the window is seen to be small.
        assert known or not gives or max(map(len, made.words)) + window > 5


@pytest.mark.parametrize(
    ("expression", "states", "window"),
    [
        ("(ab)*", 3, 1),
        ("(aab)*", 4, 2),
        ("(a|b)*abb", 4, 3),
        ("(a|b)*a(a|b)(a|b)", 8, 3),
        ("(a|b)*a(a|b)(a|b)(a|b)(a|b)", 32, 5),
        ("(b|ab*a)*", 2, None),
        ("a*b*", 3, 1),
        ("a*b*a*", 4, None),
    ],
)
def test_states_and_windows_that_are_known(expression, states, window):
    made = language(expression)
    assert (len(made.moves), made.window) == (states, window)


def even_runs(word):
    runs = [(letter, len([*run])) for letter, run in itertools.groupby(word)]
    pairs = itertools.pairwise(runs)
    return not any(x == "a" and n % 2 and m % 2 for (x, n), (_, m) in pairs)


def bracketed(most):
    def is_in(word):
        depths = [0, *itertools.accumulate(1 if letter == "a" else -1 for letter in word)]
        return min(depths) >= 0 and max(depths) <= most and depths[-1] == 0

    return is_in


MEANINGS = {
    "tomita-3": even_runs,
    "tomita-5": lambda word: word.count("a") % 2 == word.count("b") % 2 == 0,
    "tomita-6": lambda word: (word.count("a") - word.count("b")) % 3 == 0,
    "tomita-7": lambda word: len([*itertools.groupby("a" + word)]) <= 4,
    "dyck-2": bracketed(2),
    "dyck-4": bracketed(4),
    "sixth-last": lambda word: word[-6:-5] == "a",
    "own": lambda word: all(len(run) % 2 == 0 for run in re.findall("a+", word)),
}


@pytest.mark.parametrize("variant", Automaton.variants)
def test_named_languages_are_what_they_say_and_need_more_than_four_symbols(variant):
    task, is_in = Automaton(variant), MEANINGS[variant]
    made = task.language
    for word in words_up_to(made.letters, 9 if len(made.letters) == 2 else 6):
        assert made.accepts[state_of(made, word)] == is_in(word)
    assert made.window is None or made.window > 4
    assert task.warnings == ()


# What is refused.


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("", "has 0 signs: allowed are 1 to 300"),
        ("a" * 301, "has 301 signs"),
        ("(a|b", "a closing bracket is missing at its end"),
        ("a|b)", r"sign 4 is '\)', and its opening bracket is missing"),
        ("ab|", "an alternative is missing at its end"),
        *((one, "a letter or a bracket must be in front") for one in ("*a", "()", "a||b", "(+a)")),
        *((f"b{one}", "it repeats a repetition") for one in ("a**", "a*+", "a++", "(a)+*")),
        *((one, r"allowed are letters and \( \) \| \* \+") for one in ("a?b", "a b", "a.b", "ä")),
        ("a(aa)*", "its only letter is a, and two are needed"),
        ("(a|b)*", "its automaton has 1 of 2 to 128 states"),
        ("ab" * 150, "its automaton has 302 of 2 to 128"),
        ("(a|b)*a" + "(a|b)" * 20, "needs more than 2,048 states"),
        ("(a|a|b)*" + "ba" * 40, "too many parts of it match alike"),
        ("ab|ba", "Choose an infinite language"),
    ],
)
def test_a_malformed_or_huge_expression_is_refused(expression, message):
    with pytest.raises(ParameterError, match=message):
        synthbench.task("automaton", language=expression)


@given(st.text("ab()|*+?", max_size=60))
@settings(max_examples=200, deadline=None)
def test_any_text_is_an_expression_as_re_reads_it_or_refused(text):
    try:
        made = language(text)
    except ParameterError:
        return
    is_in = re.compile(text).fullmatch
    for word in words_up_to(made.letters, 3):
        assert made.accepts[state_of(made, word)] == bool(is_in(word))


def test_a_language_beside_another_variant_is_refused():
    with pytest.raises(ParameterError, match=r"variant tomita-5 has a language. Choose variant 'o"):
        synthbench.task("automaton", "tomita-5", language="(ab|ba)*")
    assert synthbench.task("automaton", language="(ab|ba)*").variant == "own"


# Rows.


@pytest.mark.parametrize("variant", Automaton.variants)
def test_rows_of_every_variant_are_sound(variant):
    task = Automaton(variant)
    for split, bucket in (("train", 1), ("train", 30), ("test", 100)):
        assert_sound(task, propose(task, split, n=6, bucket=bucket))


@given(EXPRESSION, st.integers(1, 40))
@settings(max_examples=40, deadline=None)
def test_rows_of_any_language_are_sound(expression, length):
    if language_or_none(expression) is None:
        return
    chosen = dict.fromkeys(("train_lengths", "validation_lengths", "test_lengths"), (length,))
    try:
        task = Automaton("own", {"language": expression, **chosen})
    except ParameterError as error:
        assert "Choose an infinite language" in str(error)
        return
    rows = assert_sound(task, propose(task, n=8, bucket=length))
    assert {row["length"] for row in rows} == {length}


def test_the_rule_in_words():
    task = synthbench.task("automaton", language="(ab)*")
    (row,) = rows_of(task, task.parse({"text": pa.array(["a b a a"])}))
    assert row["label"] == "q1 q0 q1 q2"
    assert worked_steps(task, row)[:2] == ["a takes q0 to q1.", "b takes q1 to q0."]
    assert draw_row(task, row).plain.splitlines()[1] == "states   q1 q0 q1 q2"
    assert "from q0: a to q1, b to q2; from q1: a to q2, b to q0;" in task.instruction
    for text in ("", "c", "ab", " ".join("a" * 1001)):
        with pytest.raises(ValueError, match="symbol"):
            task.solve(text)


def test_a_word_has_one_id_in_all_languages():
    texts = {"text": pa.array(["a c c a"])}
    one, other = (synthbench.task("automaton", language=e) for e in ("(ac|b)*c", "(aa|c)*"))
    first, second = (task.content(task.parse(texts)) for task in (one, other))
    assert (first == second).all()


# How words are drawn.


def leaving_place(made, word):
    return next((n for n in range(1, 1 + len(word)) if not made.live[state_of(made, word[:n])]), 0)


def test_a_word_leaves_at_a_uniform_place_or_never_and_is_uniform_among_such_words():
    made, length = language("a*b*a*b*"), 7
    drawn = WordSampler(made, 20).draw(Draws({"test": 1}), 40_000, length)
    words = ["".join(made.letters[i] for i in row) for row in drawn.tolist()]
    places = [leaving_place(made, word) for word in words]
    assert abs(places.count(0) / len(words) - 0.5) < 0.01
    assert_uniform([one for one in places if one], range(4, 8))  # baba is the first to leave
    every = ["".join(one) for one in itertools.product("ab", repeat=length)]
    for place in (0, 5, 7):
        among = [word for word in every if leaving_place(made, word) == place]
        chosen = [word for word, one in zip(words, places, strict=True) if one == place]
        assert_uniform(chosen, among)


def test_words_of_a_language_that_cannot_be_left_are_uniform():
    made = language("(a|b)*a(a|b)")
    drawn = WordSampler(made, 6).draw(Draws({"test": 2}), 20_000, 6)
    assert_uniform(map(tuple, drawn.tolist()), itertools.product(range(2), repeat=6))


def test_the_longest_words_are_drawn_exactly():
    made = language("(a(ab)*b)*")
    drawn = WordSampler(made, 1000).draw(Draws({"test": 3}), 50, 1000)
    assert drawn.shape == (50, 1000)
    assert np.isin(drawn, (0, 1)).all()
    live = [
        bool(made.live[state_of(made, "".join("ab"[i] for i in row))]) for row in drawn.tolist()
    ]
    assert 10 < sum(live) < 40


# Warnings.


def test_generate_and_audit_warn_of_a_window_of_four_symbols_or_fewer(tmp_path, capsys):
    task = synthbench.task("automaton", language="(ab)*", train_lengths=[12], test_lengths=[20])
    synthbench.generate(task, out=tmp_path / "made", rows={"test": 20}, workers=1)
    assert "Warning: automaton, own: k = 1: a window of so many" in capsys.readouterr().err
    for variant, k in (("tomita-5", "k = none"), ("sixth-last", "k = 6")):
        (note,) = audit_spec_of(Automaton(variant)).notes
        assert k in note
    assert set(EXPRESSIONS) == set(Automaton.variants)
