package point

// CheckLine reports whether the line of a sample: point has code in some of the binaries: nil,
// or a *symbol.NotFound that says what is near.
func CheckLine[C Code](spec Spec, binaries []C) error {
	return checkCode(spec.File, spec.Line, "", binaries)
}
