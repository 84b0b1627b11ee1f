# make: build.  make demo: see it work.  make test: what CI runs.  make test-whole: all tests.
# The long runs, whose figures the documentation gives: accuracy, across, forms, mpi, speed, overhead, scale, points, sqlite, servers, attach, kernels.

SUDO := $(if $(filter 0,$(shell id -u)),,sudo)

PREFIX ?= /usr/local

.PHONY: build install demo pictures test test-whole tools generate check-generated lint accuracy across forms mpi speed overhead scale points sqlite servers attach kernels clean

build:
	go build -o bin/whatif ./cmd/whatif

# Build first, as yourself: root may have no Go.
install:
	install -D -m 755 bin/whatif $(DESTDIR)$(PREFIX)/bin/whatif
	install -D -m 644 man/whatif.1 $(DESTDIR)$(PREFIX)/share/man/man1/whatif.1
	install -d $(DESTDIR)$(PREFIX)/share/bash-completion/completions $(DESTDIR)$(PREFIX)/share/zsh/site-functions $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
	bin/whatif completion bash > $(DESTDIR)$(PREFIX)/share/bash-completion/completions/whatif
	bin/whatif completion zsh > $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_whatif
	bin/whatif completion fish > $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/whatif.fish

demo: build
	$(SUDO) bin/whatif demo

# What the tests compile programs and look at the page with, and what the kernel side is generated with.
PACKAGES := gcc g++ libc6-dev zlib1g-dev binutils clang lld llvm libbpf-dev coz-profiler rustc dwz xz-utils chromium
TOOLS := gcc g++ readelf strip clang ld.lld llvm-strip llvm-symbolizer llvm-dwp coz rustc dwz xz chromium

tools:
	@for t in $(TOOLS); do command -v $$t >/dev/null || missing=1; done; \
	if [ -n "$$missing" ] || [ ! -e /usr/include/bpf/bpf_helpers.h ] || [ ! -e /usr/include/zlib.h ]; then \
		$(SUDO) apt-get update -q && $(SUDO) apt-get install -q -y --no-install-recommends $(PACKAGES); fi

# The BPF objects and their Go are committed; what is generated now must be the same.
generate: tools
	go generate ./bpf ./internal/coz
	clang --version | head -1 > bpf/compiler.txt

check-generated: tools
	bpf/check-generated

lint:
	@bad=$$(gofmt -l .); if [ -n "$$bad" ]; then echo "not gofmt'ed: $$bad"; exit 1; fi
	go vet ./...
	GOARCH=arm64 go build -o /dev/null ./cmd/whatif

# The tutorial's pictures of the page. A test says when they are older than the page, or than the tutorial's profiles.
pictures: tools
	go test -count=1 ./internal/web -run TestTutorialPictures -update

# In some 15 minutes; test-whole with every compiler, debug format and kind of stack.
test: build tools lint check-generated
	$(SUDO) env "PATH=$$PATH" "HOME=$$HOME" go test -short -count=1 -p 1 -timeout 15m ./...

test-whole: build tools lint check-generated
	$(SUDO) env "PATH=$$PATH" "HOME=$$HOME" go test -count=1 -p 1 -timeout 30m ./...

accuracy: build tools
	$(SUDO) env "PATH=$$PATH" "HOME=$$HOME" go run ./accuracy -coz

across: build tools
	$(SUDO) env "PATH=$$PATH" "HOME=$$HOME" go run ./accuracy -only across -check

forms: build tools
	@[ -x /usr/bin/python3-config ] || { $(SUDO) apt-get update -q && $(SUDO) apt-get install -q -y --no-install-recommends python3-dev; }
	$(SUDO) env "PATH=$$PATH" "HOME=$$HOME" go run ./accuracy -only forms

mpi: build tools
	@command -v mpicc >/dev/null && command -v mpirun >/dev/null || $(SUDO) apt-get install -q -y --no-install-recommends libopenmpi-dev openmpi-bin
	$(SUDO) env "PATH=$$PATH" "HOME=$$HOME" go run ./accuracy -only mpi -check

# One program at a time: go run ./accuracy/speed -only cpp_phases
speed: tools
	$(SUDO) env "PATH=$$PATH" "HOME=$$HOME" go run ./accuracy/speed

overhead: build tools
	$(SUDO) env "PATH=$$PATH" "HOME=$$HOME" go run ./accuracy/overhead

scale: build tools
	$(SUDO) env "PATH=$$PATH" "HOME=$$HOME" go run ./accuracy/scale

points: build tools
	$(SUDO) env "PATH=$$PATH" "HOME=$$HOME" go run ./accuracy/points

# Half an hour. Less often: make attach ATTACHES=10
ATTACHES := 100

attach: build tools
	$(SUDO) env "PATH=$$PATH" "HOME=$$HOME" go test -count=1 -v -timeout 90m -run 'TestAttach|TestSystem|TestStorm|TestHotplug' ./internal/experiment -figures -attaches $(ATTACHES)

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

clean:
	rm -rf bin accuracy/build || $(SUDO) rm -rf bin accuracy/build
