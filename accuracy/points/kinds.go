package main

// kind is a kind of progress point. The program has a point of each kind.
type kind struct {
	name string
	spec string
	// visits is the number of visits in a round.
	visits int64
}

// source is the program's path below accuracy.
const source = "points/programs/visits.c"

// nothing is a point without a cost: its only visit is the program's end.
var nothing = kind{"", "exit", 0}

// visitMark stands for the number of the line that ends with it.
const visitMark = "/* LINE */"

// everyCall is a point that the program's start visits, too.
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
