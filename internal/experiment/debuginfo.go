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
	d.interpreters()
}

// interpreters warns of time in interpreters.
func (d *debugInfo) interpreters() {
	for _, text := range d.units.interpreters() {
		d.rec.warn("interpreter", "%s", text)
	}
}
