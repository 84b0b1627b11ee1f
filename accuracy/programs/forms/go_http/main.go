// Go_http is a server with net/http, and four clients in the same process that keep their connections. A handler
// computes 0.5 ms, the target, and makes a page of 16 KiB; a client computes 0.2 ms.
//
// Truth is measured only.
package main

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"runtime"
	"strings"

	"whatif/accuracy/programs/bench"
)

//go:noinline
func progressDone() {}

// The work is in the loop's post statement, so that gofmt leaves all of it on one line.

//go:noinline
func target(steps int, x uint64) uint64 {
	for i := 0; i < steps; i, x = i+1, x*6364136223846793005+1442695040888963407 { // TARGET
	}
	return x
}

func ask(address string, run *bench.Run) {
	client := http.Client{Transport: &http.Transport{}}
	for x := uint64(1); ; {
		answer, err := client.Get("http://" + address)
		if err != nil {
			log.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, answer.Body); err != nil {
			log.Fatal(err)
		}
		answer.Body.Close()
		x = bench.Work(200*bench.US, x)
		progressDone()
		run.Visit()
	}
}

func main() {
	run := bench.Start()
	runtime.GOMAXPROCS(2)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	steps, page := run.Shrunk(500*bench.US), strings.Repeat("words of a page ", 1024)
	for range 4 {
		go ask(listener.Addr().String(), run)
	}
	log.Fatal(http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(w, target(steps, 1))
		io.WriteString(w, page)
	})))
}
