package main

// kind is a way to count, of which the program has a point.
type kind struct {
	name string
	spec string
	// visits is how often a round visits it.
	visits int64
}

// source is the program, below accuracy.
const source = "points/programs/visits.c"

// nothing is a point that costs nothing: the program ends once.
var nothing = kind{"", "exit", 0}

// visitMark stands for the number of the line with this at its end.
const visitMark = "/* LINE */"

// everyCall is visited by the start of the program, too.
const everyCall = "tracepoint:raw_syscalls:sys_enter"

var kinds = []kind{
	{"function, emulated", "func:plain", 1},
	{"function, single-stepped", "func:stepped", 1},
	{"function's return", "func:plain%return", 1},
	{"static probe", "usdt:visits:round", 1},
	{"line", "visits.c:" + visitMark, 1},
	{"in the source", "visited", 1},
	{"system call", "syscall:getppid", 1},
	{"system call, when it is over", "syscall:getppid%exit", 1},
	{"another's system call, meanwhile", "syscall:getpgrp", 0},
	{"tracepoint", everyCall, 1},
}
