"""Threads out of a client's text, grouped by equal stack, and compared."""

from dataclasses import replace

from consumers.clients.dumps import LONGEST_TEXT, ThreadStack, cut_text, grouped, threads_of, unmoved

LISTENER = (
    "java.lang.Thread.sleep(Native Method)",
    "com.shop.Billing.consumeMessage(Billing.java:41)",
    "org.apache.rocketmq.client.impl.consumer.ConsumeMessageConcurrentlyService$ConsumeRequest.run(C.java:415)",
)
IDLE = ("jdk.internal.misc.Unsafe.park(Native Method)", "java.util.concurrent.ThreadPoolExecutor.getTask(T.java:1062)")


def line(name: str, text: str) -> str:
    return f"{name:<40}{text}\n"


def block(name: str, tid: int, state: str, *frames: str) -> str:
    return line(name, f"TID: {tid} STATE: {state}") + "".join(line(name, frame) for frame in frames) + "\n"


def a_thread(
    number: int, frames: tuple[str, ...] = LISTENER, name: str = "ConsumeMessageThread_billing_"
) -> ThreadStack:
    return ThreadStack(f"{name}{number}", number, "WAITING", frames)


def test_a_block_is_a_thread_with_its_frames() -> None:
    text = block("main", 1, "RUNNABLE", "Foo.run(Foo.java:7)") + block("ConsumeMessageThread_1", 21, "WAITING", *IDLE)
    assert threads_of(text) == [
        ThreadStack("main", 1, "RUNNABLE", ("Foo.run(Foo.java:7)",)),
        ThreadStack("ConsumeMessageThread_1", 21, "WAITING", IDLE),
    ]


def test_a_name_that_fills_its_column_is_told_from_its_frame() -> None:
    name = "ConsumeMessageThread_a-group-with-a-rather-long-name_12"
    [thread] = threads_of(block(name, 3, "RUNNABLE", "Foo.run(Foo.java:7)"))
    assert (thread.name, thread.frames) == (name, ("Foo.run(Foo.java:7)",))


def test_a_name_with_spaces_keeps_them() -> None:
    [thread] = threads_of(block("Signal Dispatcher", 4, "RUNNABLE", "Foo.run(Foo.java:7)"))
    assert thread.name == "Signal Dispatcher"


def test_lines_of_windows_are_read_too() -> None:
    assert (
        len(threads_of((block("a", 1, "RUNNABLE", "F.f") + block("b", 2, "RUNNABLE", "F.f")).replace("\n", "\r\n")))
        == 2
    )


def test_what_is_no_thread_is_left_out() -> None:
    assert threads_of("no access\n\n") == []


def test_threads_with_one_stack_are_one_group_and_those_in_a_listener_come_first() -> None:
    others = [ThreadStack(f"NettyClient_{n}", 100 + n, "RUNNABLE", ("Epoll.wait",)) for n in range(5)]
    idle = [a_thread(n, IDLE) for n in (7, 8, 9)]
    groups = grouped([*others, *idle, a_thread(1), a_thread(2)])
    assert [(len(one.threads), one.is_consuming, one.is_working) for one in groups] == [
        (2, True, True),
        (3, True, False),
        (5, False, False),
    ]


def test_the_same_frames_in_another_state_are_another_group() -> None:
    assert len(grouped([a_thread(1), replace(a_thread(2), state="BLOCKED")])) == 2


def test_a_thread_that_is_where_it_was_did_not_move() -> None:
    before = [a_thread(1), a_thread(2), a_thread(3)]
    after = [a_thread(1), a_thread(2, IDLE), replace(a_thread(3), name="main")]
    assert unmoved(before, after) == {1}


def test_a_text_that_is_too_long_is_cut_between_two_threads() -> None:
    text = block("a", 1, "RUNNABLE", *["F.f(F.java:1)"] * 20) * (LONGEST_TEXT // 500)
    shortened, is_cut = cut_text(text)
    assert is_cut
    assert len(shortened) <= LONGEST_TEXT
    assert {len(thread.frames) for thread in threads_of(shortened)} == {20}
