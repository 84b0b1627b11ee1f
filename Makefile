# With make module PATH=..., PATH is the module's new path, and not where commands are.
ifeq ($(origin PATH),command line)
NEW_MODULE := $(PATH)
override PATH := $(shell /usr/bin/getconf PATH)
endif

# make: build.  make demo: see it work.  make check: while you work.  make test: what CI runs.  make test-whole: all tests.
# The long runs, whose figures the documentation gives: accuracy, device, memory, across, forms, mpi, engines, jvm, jit, speed, overhead, recording, scale, points, units, together, production, sqlite, servers, attach, kernels, fuzz.

# Tests and measurements are root's own: whatif writes with the rights of the user who called sudo,
# and their directories are root's.
SUDO := $(if $(filter 0,$(shell id -u)),,sudo) env -u SUDO_UID -u PKEXEC_UID -u DOAS_USER

PREFIX ?= /usr/local

MODULE := $(shell sed -n 's/^module //p' go.mod)
VERSION := $(shell sed -n 's/^const Number = "\(.*\)"$$/\1/p' internal/version/version.go)

# What `whatif version` says: the commit (packaging/commit.txt in an archive without a repository), and SOURCE_DATE_EPOCH
# or the commit's date.
STAMP = -X $(MODULE)/internal/version.commit=$(shell packaging/commit hash) -X $(MODULE)/internal/version.date=$(shell packaging/commit date)

.PHONY: build install dist dist-binaries dist-check dist-try module module-try demo pictures check pure test race test-whole gate tools generate check-generated lint accuracy across forms estimates device device-again memory mpi engines jvm jit speed overhead jvm-overhead jvm-attach recording scale points units together production sqlite servers attach kernels fuzz clean

# Without cgo: capabilities are each thread's own, and Go cannot take them from threads that C may have made. Without the
# tree's path, as a release is built: go's cache then has each package once, for the program, for what tests it, and for
# all clones.
build:
	CGO_ENABLED=0 go build -trimpath -ldflags "$(STAMP)" -o bin/whatif ./cmd/whatif

# Build first, as yourself: root may have no Go.
install:
	install -D -m 755 bin/whatif $(DESTDIR)$(PREFIX)/bin/whatif
	install -D -m 644 man/whatif.1 $(DESTDIR)$(PREFIX)/share/man/man1/whatif.1
	install -d $(DESTDIR)$(PREFIX)/share/bash-completion/completions $(DESTDIR)$(PREFIX)/share/zsh/site-functions $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
	bin/whatif completion bash > $(DESTDIR)$(PREFIX)/share/bash-completion/completions/whatif
	bin/whatif completion zsh > $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_whatif
	bin/whatif completion fish > $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/whatif.fish

# What is released: static programs, packages, and their SHA-256 sums. Equal sources make equal bytes, in any directory
# and at any time: dist-check builds a second time, with nothing of the first.
dist:
	packaging/dist $(VERSION) $(MODULE)

dist-binaries:
	packaging/dist --binaries $(VERSION) $(MODULE)

dist-check: dist
	packaging/check $(VERSION)

# Installs the .deb in fresh trees of Debian, and runs whatif there. Other releases: make dist-try SUITES=bullseye
SUITES := bookworm trixie

dist-try: dist
	@command -v debootstrap >/dev/null || { $(SUDO) apt-get update -q && $(SUDO) apt-get install -q -y --no-install-recommends debootstrap; }
	$(SUDO) packaging/try dist/whatif_$(VERSION)_$$(dpkg --print-architecture).deb $(SUITES)

# When the module gets its public path: make module PATH=example.org/whatif. Then `go install` finds it, and users' programs
# its package point. module-try does that in a copy, and installs the copy as a user would.
module:
	packaging/module $(NEW_MODULE)

module-try:
	packaging/module-try $(VERSION)

demo: build
	$(SUDO) bin/whatif demo

# What the tests compile programs and look at the page with, and what the kernel side is generated with.
PACKAGES := gcc g++ libc6-dev zlib1g-dev binutils clang lld llvm libbpf-dev coz-profiler rustc dwz xz-utils chromium
TOOLS := gcc g++ readelf strip clang ld.lld llvm-strip llvm-symbolizer llvm-dwp coz rustc dwz xz chromium

tools:
	@for t in $(TOOLS); do command -v $$t >/dev/null || missing=1; done; \
	if [ -n "$$missing" ] || [ ! -e /usr/include/bpf/bpf_helpers.h ] || [ ! -e /usr/include/zlib.h ]; then \
		$(SUDO) apt-get update -q && $(SUDO) apt-get install -q -y --no-install-recommends $(PACKAGES); fi

# The BPF objects and their Go are committed; what is generated now must be the same. The generator's own dependencies are
# in tools.mod.
generate: tools
	go generate ./bpf ./internal/coz ./internal/code/jvm
	clang --version | head -1 > bpf/compiler.txt

check-generated: tools
	bpf/check-generated

lint:
	@bad=$$(gofmt -l .); if [ -n "$$bad" ]; then echo "not gofmt'ed: $$bad"; exit 1; fi
	CGO_ENABLED=0 go vet -trimpath ./...
	go mod tidy -diff
	@[ "$$(go list -m -modfile=tools.mod github.com/cilium/ebpf)" = "$$(go list -m github.com/cilium/ebpf)" ] || \
		{ echo "tools.mod and go.mod name different versions of cilium/ebpf"; exit 1; }

# The README's picture, and the tutorial's of the page. Tests say when they are older than what they show.
pictures: tools
	go test -count=1 ./internal/cli -run TestReadmeShows -update
	go test -count=1 ./internal/web -run TestTutorialPictures -update

# What shares memory between goroutines and needs no kernel side: of the packages with much else, only the tests of that.
RACE := ./point ./internal/recorder ./internal/privilege ./internal/code/symbol/debuginfod
RACE_SOME := ./internal/web ./internal/profile

# With cgo, as the race detector is written in C.
RACE_TEST = CGO_ENABLED=1 go test -race -short -vet=off -count=1 -timeout 5m

race: tools
	$(RACE_TEST) $(RACE)
	$(RACE_TEST) -run 'Server|Live|Open|Concurrent|InUse' -skip 'Browser|Liveness' $(RACE_SOME)

# Packages whose tests run whatif, and are right or wrong on a busy machine too: beside those that need no kernel side.
BESIDE := test internal/cli internal/doctor internal/privilege internal/target

# Packages whose tests measure: one at a time, and nothing beside them. Of SPLIT, only the tests that say so (realkernel.NeedQuiet).
ALONE := accuracy accuracy/lines accuracy/overhead accuracy/points accuracy/scale internal/demo internal/ledger internal/load \
	internal/testing/realkernel
SPLIT := test

# All others. Those that take longest come first, so that no core waits for them at the end.
LONGEST := internal/web internal/code/symbol internal/analyze packaging internal/code/jvm internal/report bpf
PURE = $(addprefix ./,$(LONGEST)) $$(go list ./... | grep -vxF $(addprefix -e $(MODULE)/,$(BESIDE) $(ALONE)))

# As make build. What a test compiles itself is compiled as users do, with cgo if they do not say otherwise.
GO_TEST = CGO_ENABLED=0 go test -trimpath -exec 'env -u CGO_ENABLED' -count=1 -vet=off

# What a developer runs all the time, in a minute and a half, without privileges. One test more than there are cores, as
# some wait for other programs.
check: tools lint build
	WHATIF_BUILT=$(CURDIR)/bin/whatif $(GO_TEST) -short -p $$(($$(nproc) + 1)) $(PURE)
	@$(GO_TEST) -v -run 'TestOneFileChangesLevels|TestFunctions|TestGoFunctions' ./bpf ./docs | grep '_test.go:'

# All that needs neither the kernel side nor quiet. lint has vetted all of it.
pure: tools lint check-generated race
	$(GO_TEST) $(FLAGS) $(PURE)

# What noise spoils is measured again on a quiet machine. The tests that noise kept from judging are listed at the end, and fail with WHATIF_STRICT=1.
# WHATIF_CALIBRATION=0.7 makes their programs believe in another processor.
RUN_TESTS = @$(SUDO) env "PATH=$$PATH" "HOME=$$HOME" "WHATIF_STRICT=$$WHATIF_STRICT" "WHATIF_CALIBRATION=$$WHATIF_CALIBRATION" \
	"BESIDE=$(BESIDE)" "ALONE=$(ALONE)" "SPLIT=$(SPLIT)" internal/testing/all $(1)

# In some 9 minutes; test-whole, in 30, with the figures of single mechanisms, and every compiler, debug format and
# kind of stack. How long each package may take: internal/testing/budgets.
test: build tools
	$(call RUN_TESTS,-short -timeout 20m)

test-whole: build tools
	$(call RUN_TESTS,-timeout 40m)

# Are predictions true? A few programs, judged by how well all is known, in three minutes.
gate: build tools
	$(SUDO) env "PATH=$$PATH" "HOME=$$HOME" "WHATIF_STRICT=$$WHATIF_STRICT" "WHATIF_GATE_BIAS=$$WHATIF_GATE_BIAS" go test -count=1 -v -run TestGate ./accuracy

accuracy: build tools
	$(SUDO) env "PATH=$$PATH" "HOME=$$HOME" go run ./accuracy -rounds 3 -truth-seconds 0.5 -coz -coz-seconds 20 -check -results accuracy/RESULTS.md

# What programs gain by really being changed is measured once, in two hours, and kept in bin/. Estimates of the same
# programs are compared with that, in a quarter of an hour.
KEPT := suite forms across
estimates: build tools
	@for group in $(KEPT); do \
		only=; [ $$group = suite ] || only="-only $$group"; \
		[ -s bin/kept-$$group.json ] || $(SUDO) env "PATH=$$PATH" "HOME=$$HOME" \
			go run ./accuracy $$only -rounds 3 -truth-seconds 0.5 -json bin/kept-$$group.json || exit; \
	done
	$(SUDO) env "PATH=$$PATH" "HOME=$$HOME" go run ./accuracy -check -results accuracy/RESULTS.md \
		-estimates "$$(ls $(KEPT:%=bin/kept-%.json) | paste -sd,)"

# Answers for other machines, in some 18 minutes: a third records and experiments, the rest measures truths. The emulated one
# needs qemu-user and gcc-aarch64-linux-gnu.
device: build tools
	$(SUDO) env "PATH=$$PATH" "HOME=$$HOME" go run ./accuracy/device

# Measures this machine five times, and fails if two measurements differ by more than they say.
device-again: build
	go run ./accuracy/device -again 5

# Which part of the time waits for memory, beside what kernels take longer with large data.
memory: build tools
	$(SUDO) env "PATH=$$PATH" "HOME=$$HOME" go run ./accuracy/memory

across: build tools
	$(SUDO) env "PATH=$$PATH" "HOME=$$HOME" go run ./accuracy -only across -check -results accuracy/RESULTS.md

forms: build tools
	@[ -x /usr/bin/python3-config ] || { $(SUDO) apt-get update -q && $(SUDO) apt-get install -q -y --no-install-recommends python3-dev; }
	$(SUDO) env "PATH=$$PATH" "HOME=$$HOME" go run ./accuracy -only forms -check -results accuracy/RESULTS.md

mpi: build tools
	@command -v mpicc >/dev/null && command -v mpirun >/dev/null || $(SUDO) apt-get install -q -y --no-install-recommends libopenmpi-dev openmpi-bin
	$(SUDO) env "PATH=$$PATH" "HOME=$$HOME" go run ./accuracy -only mpi -check -results accuracy/RESULTS.md

# Where experiments and estimates say different things, one of them is right, and whatif warns.
engines: build tools
	@command -v mpicc >/dev/null && command -v mpirun >/dev/null || $(SUDO) apt-get install -q -y --no-install-recommends libopenmpi-dev openmpi-bin
	$(SUDO) env "PATH=$$PATH" "HOME=$$HOME" go run ./accuracy -only mpi_scatter -engines -check

jvm: build tools
	@command -v javac >/dev/null && [ -e /usr/share/java/h2.jar ] || \
		$(SUDO) apt-get install -q -y --no-install-recommends default-jdk-headless libh2-java
	$(SUDO) env "PATH=$$PATH" "HOME=$$HOME" go run ./accuracy/lines -check
	$(SUDO) env "PATH=$$PATH" "HOME=$$HOME" go run ./accuracy -only jvm -check -results accuracy/RESULTS.md

jit: build tools
	@command -v node >/dev/null && command -v erlc >/dev/null || $(SUDO) apt-get install -q -y --no-install-recommends nodejs erlang-base
	$(SUDO) env "PATH=$$PATH" "HOME=$$HOME" go run ./accuracy -only jit -check -results accuracy/RESULTS.md

# One program at a time: go run ./accuracy/speed -only cpp_phases
speed: tools
	$(SUDO) env "PATH=$$PATH" "HOME=$$HOME" go run ./accuracy/speed

overhead: build tools
	$(SUDO) env "PATH=$$PATH" "HOME=$$HOME" go run ./accuracy/overhead

# What recording costs, in which nothing is delayed, and how soon there is an estimate for each unit.
recording: build tools
	$(SUDO) env "PATH=$$PATH" "HOME=$$HOME" go run ./accuracy/overhead -check -only record,record-go,record-threads,record-units

# Programs of Debian's packages, as DaCapo's: an hour and a half. Shorter: make jvm-overhead ROUNDS=3
ROUNDS := 10
DACAPO := default-jdk-headless libh2-java libfop-java libbatik-java libxalan2-java liblucene4.10-java jython

jvm-overhead: build tools
	@dpkg -s $(DACAPO) >/dev/null 2>&1 || $(SUDO) apt-get install -q -y --no-install-recommends $(DACAPO)
	$(SUDO) env "PATH=$$PATH" "HOME=$$HOME" go run ./accuracy/overhead -only java -rounds $(ROUNDS)

# A Java VM that is attached to and left again and again, killed, and loads classes all the time: ten minutes.
jvm-attach: build tools
	$(SUDO) env "PATH=$$PATH" "HOME=$$HOME" go test -count=1 -v -timeout 60m -run 'TestJava(Again|AgainRate|Killed|Ends|Storm)$$' ./test -figures -attaches $(ATTACHES)

scale: build tools
	$(SUDO) env "PATH=$$PATH" "HOME=$$HOME" go run ./accuracy/scale

points: build tools
	$(SUDO) env "PATH=$$PATH" "HOME=$$HOME" go run ./accuracy/points

# An hour. Less often: make attach ATTACHES=10
ATTACHES := 100

attach: build tools
	$(SUDO) env "PATH=$$PATH" "HOME=$$HOME" go test -count=1 -v -timeout 90m -run 'TestAttach|TestSystem|TestRunStall|TestStorm|TestHotplug|TestMoments' ./test -figures -attaches $(ATTACHES)

# Estimates of units of other people's programs, beside experiments: 40 minutes. Estimates only, in two: make units UNITS=0
# Needs Debian's source packages: "deb-src" in apt's sources.
UNITS := 30

units: build tools
	@for t in tclsh dpkg-source make; do command -v $$t >/dev/null || missing=1; done; \
	if [ -n "$$missing" ]; then $(SUDO) apt-get install -q -y --no-install-recommends tcl dpkg-dev make; fi
	$(SUDO) env "PATH=$$PATH" "HOME=$$HOME" go run ./accuracy/units -check -units $(UNITS)

# Questions that whatif ask answers, beside what really happens.
together: build tools
	$(SUDO) env "PATH=$$PATH" "HOME=$$HOME" go run ./accuracy/together -check

# What recording does to the latency of a server's requests.
production: build tools
	@[ -x /usr/bin/memcached ] || $(SUDO) apt-get install -q -y --no-install-recommends memcached
	$(SUDO) env "PATH=$$PATH" "HOME=$$HOME" go run ./accuracy/production -check

# Needs Debian's source packages: "deb-src" in apt's sources.
sqlite: build tools
	@for t in tclsh dpkg-source make; do command -v $$t >/dev/null || missing=1; done; \
	if [ -n "$$missing" ]; then $(SUDO) apt-get install -q -y --no-install-recommends tcl dpkg-dev make; fi
	$(SUDO) env "PATH=$$PATH" "HOME=$$HOME" go run ./accuracy/sqlite

# As sqlite; and the packages start their servers, too, where there is an init system.
SERVERS := memcached libmemcached-tools nginx-light apache2-utils postgresql-15 dpkg-dev debhelper libevent-dev libsasl2-dev libssl-dev \
	libio-socket-ssl-perl pkg-config

servers: build tools
	@dpkg -s $(SERVERS) >/dev/null 2>&1 || $(SUDO) apt-get install -q -y --no-install-recommends $(SERVERS)
	$(SUDO) env "PATH=$$PATH" "HOME=$$HOME" go run ./accuracy/servers

# What works on other kernels, which are booted in virtual machines: half an hour to an hour. Some only: go run ./accuracy/kernels -only 6.1 -arch amd64
KERNELS := qemu-system-x86 qemu-system-arm gcc gcc-aarch64-linux-gnu libc6-dev-arm64-cross debian-archive-keyring

kernels:
	@dpkg -s $(KERNELS) >/dev/null 2>&1 || $(SUDO) apt-get install -q -y --no-install-recommends $(KERNELS)
	go run ./accuracy/kernels

# Each parser of bytes from outside, for a while. Longer: make fuzz FUZZTIME=10m
FUZZTIME := 30s

fuzz:
	internal/testing/hostile/fuzz $(FUZZTIME)

clean:
	rm -rf bin dist accuracy/build || $(SUDO) rm -rf bin dist accuracy/build
