# make: build.  make demo: see it work.  make test: what CI runs.  make test-whole: all tests.
# The long runs, whose figures the documentation gives: accuracy, overhead, scale, points, sqlite.

SUDO := $(if $(filter 0,$(shell id -u)),,sudo)

PREFIX ?= /usr/local

.PHONY: build install demo test test-whole tools generate check-generated lint accuracy overhead scale points sqlite clean

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

# What the tests compile programs with, and what the kernel side is generated with.
PACKAGES := gcc g++ libc6-dev zlib1g-dev binutils clang lld llvm libbpf-dev coz-profiler rustc dwz xz-utils
TOOLS := gcc g++ readelf strip clang ld.lld llvm-strip llvm-symbolizer llvm-dwp coz rustc dwz xz

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

# In some 15 minutes; test-whole with every compiler, debug format and kind of stack.
test: build tools lint check-generated
	$(SUDO) env "PATH=$$PATH" "HOME=$$HOME" go test -short -count=1 -p 1 -timeout 15m ./...

test-whole: build tools lint check-generated
	$(SUDO) env "PATH=$$PATH" "HOME=$$HOME" go test -count=1 -p 1 -timeout 30m ./...

accuracy: build tools
	$(SUDO) env "PATH=$$PATH" "HOME=$$HOME" go run ./accuracy -coz

overhead: build tools
	$(SUDO) env "PATH=$$PATH" "HOME=$$HOME" go run ./accuracy/overhead

scale: build tools
	$(SUDO) env "PATH=$$PATH" "HOME=$$HOME" go run ./accuracy/scale

points: build tools
	$(SUDO) env "PATH=$$PATH" "HOME=$$HOME" go run ./accuracy/points

# Needs Debian's source packages: "deb-src" in apt's sources.
sqlite: build tools
	@for t in tclsh dpkg-source make; do command -v $$t >/dev/null || missing=1; done; \
	if [ -n "$$missing" ]; then $(SUDO) apt-get install -q -y --no-install-recommends tcl dpkg-dev make; fi
	$(SUDO) env "PATH=$$PATH" "HOME=$$HOME" go run ./accuracy/sqlite

clean:
	rm -rf bin accuracy/build
