package probes

import (
	"errors"
	"slices"

	"whatif/internal/hint"
	"whatif/internal/kerneltypes"
	"whatif/internal/point"
)

// WantsSource tells whether points in the program's source are wanted: some are named, or nothing is. Those in Java
// code are counted in the same way.
func WantsSource(points []point.Spec) bool {
	return len(points) == 0 || slices.ContainsFunc(points, func(s point.Spec) bool { return isSource(s) || s.InJava() })
}

// MayBeInJava tells whether Java code may have some of the points.
func MayBeInJava(points []point.Spec) bool {
	return slices.ContainsFunc(points, func(s point.Spec) bool { return s.InJava() })
}

func isSource(s point.Spec) bool { return s.Kind == point.Source }

// CountsSource tells whether this kernel can count points in the source. If points are named it is an error that it
// cannot.
func CountsSource(points []point.Spec) (can bool, err error) {
	types, err := kerneltypes.Get()
	if err != nil || types.ListsMappings() {
		return true, err
	}
	if slices.ContainsFunc(points, isSource) {
		return false, hint.New(
			errors.New("counting points in the program's source: this kernel does not tell what a process has mapped"),
			"use Linux 6.7 or newer, or count something else: -p func:NAME, -p syscall:NAME and others")
	}
	return false, nil
}
