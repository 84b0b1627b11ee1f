package point

// CheckLine returns nil if the line of a sample: point has code in one of the binaries, else a
// *symbol.NotFound with the nearest names.
func CheckLine[C Code](spec Spec, binaries []C) error {
	return checkCode(spec.File, spec.Line, "", binaries)
}
