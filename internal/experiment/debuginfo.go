package experiment

// debugInfo watches for binaries without debug information in which code was sampled.
type debugInfo struct {
	units *unitTable
	rec   *recorder
}

func (d *debugInfo) check() {
	for _, text := range d.units.missing() {
		d.rec.warn("debug-info", "%s", text)
	}
	for _, text := range d.units.made.javaDoubts() {
		d.rec.warn("java", "%s", text)
	}
}

// interpreters warns of time in interpreters. It is called at the end: the share of a program's start is another one.
func (d *debugInfo) interpreters() {
	for _, text := range d.units.interpreters() {
		d.rec.warn("interpreter", "%s", text)
	}
}
