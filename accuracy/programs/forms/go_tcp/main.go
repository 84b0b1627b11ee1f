// Go_tcp is a server over TCP with a goroutine for each connection, and three clients in the same process. A client
// computes 0.4 ms and asks. The server computes 0.3 ms and 0.7 ms, the target, and answers.
//
// Truth: were the two cores always full a request would take (1.4 - 0.7s)/2 ms: 12.5, 25, 37.5, 50.
package main

import (
	"io"
	"log"
	"net"
	"runtime"

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

func serve(conn net.Conn, steps int) {
	message := make([]byte, 64)
	for x := uint64(1); ; {
		if _, err := io.ReadFull(conn, message); err != nil {
			log.Fatal(err)
		}
		x = target(steps, bench.Work(300*bench.US, x))
		message[0] = byte(x)
		if _, err := conn.Write(message); err != nil {
			log.Fatal(err)
		}
	}
}

func ask(address string, run *bench.Run) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		log.Fatal(err)
	}
	message := make([]byte, 64)
	for x := uint64(1); ; {
		x = bench.Work(400*bench.US, x)
		message[0] = byte(x)
		if _, err := conn.Write(message); err != nil {
			log.Fatal(err)
		}
		if _, err := io.ReadFull(conn, message); err != nil {
			log.Fatal(err)
		}
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
	for range 3 {
		go ask(listener.Addr().String(), run)
	}
	for {
		conn, err := listener.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go serve(conn, run.Shrunk(700*bench.US))
	}
}
