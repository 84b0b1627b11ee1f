package cli

// about has what help and the man page say about a command after its summary.
var about = map[string]string{
	"run": "Runs PROGRAM and experiments with it: whatif makes one unit of its code after another virtually faster, and " +
		"counts visits of progress points. A status line shows how far it is. At the end there is a table, and a " +
		"profile to which the next run adds. Without --duration, --until and --repeat the program runs once, to its " +
		"end. Experiments then end when the leading units are known to within 2 points, and the program runs on " +
		"undisturbed (--repeat 1 measures all of it). The exit status is the program's own, but 0 where --duration or " +
		"--until ended it.",
	"record": "Runs PROGRAM and records what it does: which thread runs where, what lets waiting threads continue, " +
		"samples, and visits of progress points. No core is ever stopped. The recording is in the profile, and whatif " +
		"report estimates gains from it. Where events come too often, the recording has windows of time, chosen at " +
		"random. It needs a progress point: without one there are no gains. PROGRAM runs once, until it ends or " +
		"--duration is over; a --warmup is not recorded.",
	"attach": "As run, with processes that run already and what they start from now on. The processes go on at full " +
		"speed when whatif ends, however it ends.",
	"system": "As run, with every process of the machine and the kernel. After a stop, all other threads have the core " +
		"for as long as the stop took.",
	"view": "One page: ranked units with their curves, each unit's experiments, the source around it. The page is " +
		"served to this machine only, on a port and under an address that nobody can guess. report --format html writes " +
		"the same page into a file.",
	"demo": "Takes 15 seconds, and needs no compiler. The table has what whatif found beside the truth.",
	"device": "Measures processor, memory, disk, network and waking, in 20 s: a table with spreads goes to stderr, a " +
		"device file to stdout (\"whatif help device-schema\" prints its schema). The machine should do nothing else. " +
		"list, show NAME, compare A B and add FILE work on the database, $XDG_DATA_HOME/whatif/devices, and on " +
		"built-in devices, which are computed from public figures. A and B are names or files. B may also be speeds " +
		"relative to A, by class: cpu=0.43,memory=1,disk=2,net=0.18,wake=1.",
	"doctor": "Looks at privileges, the kernel, the clock and the processors, and at what other programs do with them. " +
		"It leaves nothing behind. The exit status is 0 if whatif can work here, else 125.",
	"points": "Lists what can be counted, in the words of --point: points in the source, static probes, and functions " +
		"that are named like a unit of work. Nothing is run for that. With -d PROGRAM is run, and of processes that " +
		"run already a few seconds are watched: then functions that are entered, and system calls that are made, 10 to " +
		"10,000 times a second are ranked, too. That is also done where PROGRAM offers nothing by its names and runs " +
		"already. No core is stopped, and nothing stays behind.",
	"units": "Lists what could be a target (-t): the code that runs, most time first, and of code that is out of scope " +
		"the reason. PROGRAM is started and runs at full speed, processes are sampled and left running, and of a " +
		"profile all units are listed, tried or not. No profile is written. The list has the code that was running, " +
		"not its callers.",
	"report": "Reads profiles of whatif and of COZ, both forms of them (default: whatif.profile). Runs of several files " +
		"are merged; those of other builds of the program than the latest are left out unless --mixed is given. The " +
		"formats: text; json, with the schema that \"whatif help json\" prints; csv, a row for each unit, point, metric " +
		"and speed-up; html, the page; svg, curves; map, share against gain; github, a short summary in Markdown; pprof, " +
		"for go tool pprof (use -lines); coz and coz-json, for COZ's viewer and scripts; collapsed, stacks of a " +
		"recording for flame graphs; recording, a profile to give away: a recording without names and addresses.",
	"diff": "Compares two profiles: how much faster the program became, whether units that became faster brought what " +
		"was predicted, and for which units the prediction changed. Lines that moved are found by their text; a line " +
		"that was rewritten is found by what is new in its function. The format github is a summary in Markdown, " +
		"for the change's pull request.",
	"ask": "Answers from the last recording in a profile (default: whatif.profile). The recorded program is run again " +
		"in a simulated machine, with everything that --together and --cores name. Every point has an answer with an " +
		"interval, or the reason why the recording does not tell.",
	"check": "For use in a build: exits with 1 if a limit is violated with 95% confidence (the whole interval is beyond " +
		"it), and with 0 if it holds or if that cannot be told; the output says which. With --strict it also exits " +
		"with 1 where it cannot be told. For two profiles, at least one of them needs more than one run. Percentages " +
		"of OLD NEW are of the time per visit, or of the mean latency.",
	"completion": "Prints completions for a shell, as the packages install them.",
	"version":    "A build from an archive says the archive's commit.",
	"help":       "Topics beside the commands: json, the schema of JSON reports; device-schema, that of device files.",
}

// An example is a command line, and what it is for.
type example struct {
	what, command string
}

// examples has three command lines for each command that has so many uses. TestInlineCommands parses all of them.
var examples = map[string][]example{
	"run": {
		{"a server, for 30 seconds, under the load that it has", "sudo whatif run -p func:request_done -d 30s -- ./server"},
		{"a program that does one thing and ends: each execution is one experiment",
			"sudo whatif run --repeat 60 -- ./convert input.dat"},
		{"how long requests take, until gains are known to within 5 points, at most 2 minutes",
			"sudo whatif run -l request=func:begin..func:done --until 5 -d 2m -- ./server"},
	},
	"record": {
		{"estimate all lines at once, without ever stopping the program",
			"sudo whatif record -p func:request_done -d 10s -- ./server"},
		{"a program that ends, into a file of its own",
			"sudo whatif record -p func:row_done -o convert.profile -- ./convert input.dat"},
		{"then: what two changes would bring together",
			"whatif ask --together parse.c:118=50 --together func:send=30 convert.profile"},
	},
	"attach": {
		{"a running server", "sudo whatif attach -p func:request_done -d 30s $(pgrep -n server)"},
		{"all processes of a name, with their children",
			"sudo whatif attach --name 'worker*' --children -p func:job_done -d 1m"},
		{"a systemd service", "sudo whatif attach --cgroup nginx.service -p func:ngx_http_finalize_request -d 1m"},
	},
	"system": {
		{"the whole machine while a build runs, again and again",
			"sudo whatif system -u binary --repeat 20 -- sh -c 'make clean; make -j8'"},
		{"the kernel's functions, too", "sudo whatif system -u func --kernel --repeat 20 -- ./load"},
		{"what runs already, by a system call that stands for progress",
			"sudo whatif system -p syscall:sendto -d 30s --exempt postgres"},
	},
	"points": {
		{"what a program and its own libraries offer", "whatif points ./server"},
		{"what it does, at work: functions and system calls with their rates",
			"sudo whatif points -d 6s -- ./server --port 8080"},
		{"the same for a running process", "sudo whatif points $(pgrep -n server)"},
	},
	"units": {
		{"a program's lines, in 10 seconds", "sudo whatif units -d 10s -- ./server"},
		{"functions of a running process, for a script", "sudo whatif units -u func --format json $(pgrep -n server)"},
		{"what a profile knows, tried or not", "whatif units --top 0 whatif.profile"},
	},
	"report": {
		{"the table of whatif.profile, all of it", "whatif report --top 0"},
		{"for a script", "whatif report --format json whatif.profile"},
		{"a page to send to others", "whatif report --format html -o result.html monday.profile tuesday.profile"},
	},
	"ask": {
		{"two changes at once: one line takes half the time, one function none",
			"whatif ask --together parse.c:118=50 --together func:send_reply=100"},
		{"the same program with 16 cores", "whatif ask --cores 16 whatif.profile"},
		{"for a script", "whatif ask --together parse.c:118=50 --format json"},
	},
	"view": {
		{"the last result", "whatif view"},
		{"before and after a change", "whatif view --compare before.profile after.profile"},
		{"on a server without a display; the ssh command is printed, too", "whatif view --no-browser --port 8080"},
	},
	"diff": {
		{"before and after a change", "whatif diff before.profile after.profile"},
		{"for a pull request", "whatif diff --format github before.profile after.profile"},
		{"one point, all units", "whatif diff --point request --top 0 before.profile after.profile"},
	},
	"check": {
		{"fail a build if the program became more than 3% slower",
			"whatif check --max-regress 3 before.profile after.profile"},
		{"fail unless it became at least 5% faster; fail also where that cannot be told",
			"whatif check --strict --min-gain 5 before.profile after.profile"},
		{"fail if nothing is left to gain", "whatif check --min-gain 10 whatif.profile"},
	},
	"demo": {
		{"see it work", "sudo whatif demo"},
		{"longer, with narrower intervals", "sudo whatif demo -d 1m"},
		{"keep the table", "sudo whatif demo > demo.txt"},
	},
	"device": {
		{"measure this machine", "whatif device -o here.json"},
		{"compare it with a phone", "whatif device compare here.json phone"},
		{"which devices are known", "whatif device list"},
	},
	"doctor": {
		{"what root can do here", "sudo whatif doctor"},
		{"what you can do here without sudo", "whatif doctor"},
		{"another machine", "ssh build-host sudo whatif doctor"},
	},
	"version": {
		{"which version, of which commit", "whatif version"},
	},
	"completion": {
		{"bash, for this shell", "source <(whatif completion bash)"},
		{"zsh, in a directory of $fpath", "whatif completion zsh > ~/.zfunc/_whatif"},
		{"fish, for good", "whatif completion fish > ~/.config/fish/completions/whatif.fish"},
	},
	"help": {
		{"the flags of a command, with examples", "whatif help run"},
		{"the schema of JSON reports", "whatif help json"},
		{"the whole manual", "man whatif"},
	},
}
