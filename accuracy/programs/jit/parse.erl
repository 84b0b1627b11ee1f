%% Two processes: one parses for 1 ms, the target, and asks the other, which works for 1 ms, and answers.
%%
%% Truth: 12.5, 25, 37.5, 50.
%%
%% erl -s parse main -extra PERCENT SECONDS: as bench.h says. A visit is a call of getsockopt, which a scheduler makes
%% itself, and which can be counted from outside. Loops have as many steps as they are told, each needs the one before,
%% and what comes out is used.
-module(parse).
-export([main/0]).

parse(0, X) -> X;
parse(N, X) -> parse(N - 1, ((X bxor (X bsr 15)) * 48271) band 16#7FFFFFF). % // TARGET

work(0, X) -> X;
work(N, X) -> work(N - 1, ((X bxor (X bsr 15)) * 48271) band 16#7FFFFFF).

%% How many steps take a millisecond: by the fastest of some short loops.
measured() ->
    Lap = 20000,
    Times = [element(1, timer:tc(fun() -> work(Lap, X) end)) || X <- lists:seq(1, 200)],
    Lap * 1000 div max(1, lists:min(Times)).

%% All runs of a study have the same number of steps.
perMillisecond() ->
    case os:getenv("WHATIF_STEPS") of
        false -> measured();
        Text -> list_to_integer(Text) * 600
    end.

answer(Steps) ->
    receive {From, X} -> From ! {self(), work(Steps, X)} end,
    answer(Steps).

main() ->
    [Percent, Seconds] = init:get_plain_arguments(),
    Steps = perMillisecond(),
    Shrunk = Steps * (100 - list_to_integer(Percent)) div 100,
    Other = spawn_link(fun() -> answer(Steps) end),
    {ok, Socket} = gen_udp:open(0),
    Nanoseconds = round(1.0e9 * number(Seconds)),
    round(Other, Shrunk, Socket, {warming, erlang:monotonic_time(nanosecond)}, Nanoseconds, 1).

number(Text) ->
    case string:to_float(Text) of
        {error, _} -> float(list_to_integer(Text));
        {Number, _} -> Number
    end.

round(Other, Steps, Socket, State, Length, X) ->
    Other ! {self(), parse(Steps, X)},
    receive {Other, Y} -> round(Other, Steps, Socket, visit(Socket, State, Length), Length, Y) end.

visit(Socket, State, Length) ->
    Now = erlang:monotonic_time(nanosecond),
    case State of
        {warming, Begun} when Now - Begun < 500000000 ->
            State;
        {warming, _} ->
            inet:getopts(Socket, [recbuf]),
            {0, Now};
        {Visits, Started} when Now - Started >= Length ->
            io:format("visits ~b seconds ~.6f~n", [Visits + 1, (Now - Started) / 1.0e9]),
            halt(0);
        {Visits, Started} ->
            inet:getopts(Socket, [recbuf]),
            {Visits + 1, Started}
    end.
