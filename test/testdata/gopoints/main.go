package main

import (
	"fmt"
	"sync"

	"whatif/point"
)

var requests = point.New("requests")
var pair = point.NewPair("pair")

func main() {
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			for range 100000 {
				pair.Begin()
				requests.Visit()
				pair.End()
			}
		})
	}
	wg.Wait()
	fmt.Println("visits 1000000")
}
