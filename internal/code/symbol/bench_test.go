package symbol

import "testing"

// BenchmarkFirstLookup measures the first look-up in a binary: open the binary, find the unit, read it.
func BenchmarkFirstLookup(b *testing.B) {
	for _, p := range programs {
		switch p.name {
		case "c gcc -O2", "c++ gcc -O2", "c++ clang -O2", "rust release", "go", "go uncompressed":
		default:
			continue
		}
		b.Run(p.name, func(b *testing.B) {
			path := build(b, p.source, p.command...)
			name := "main"
			if p.source == "goprog" {
				name = "main.main"
			}
			funcs, err := open(b, path).Functions(name)
			if err != nil || len(funcs) == 0 {
				b.Fatal(funcs, err)
			}
			for b.Loop() {
				bin, err := Open(path)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := bin.Frames(funcs[0].FileOffset + 8); err != nil {
					b.Fatal(err)
				}
				bin.Close()
			}
		})
	}
}

// BenchmarkLookup measures each further look-up.
func BenchmarkLookup(b *testing.B) {
	bin := open(b, build(b, "stl.cc", "g++", "-g", "-O2", "-std=c++17"))
	addrs := textAddresses(bin, 1000)
	bin.framesAt(addrs[0])
	i := 0
	for b.Loop() {
		bin.framesAt(addrs[i%len(addrs)])
		i++
	}
}

func BenchmarkOpen(b *testing.B) {
	path := build(b, "goprog", "go", "build")
	for b.Loop() {
		bin, err := Open(path)
		if err != nil {
			b.Fatal(err)
		}
		bin.Close()
	}
}
