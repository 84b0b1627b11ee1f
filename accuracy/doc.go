// Accuracy measures how true whatif's predictions are.
//
// For each program of the suite it really shrinks the work of one marked line by 25, 50, 75 and 100% and
// measures what the program gains: the truth. It asks whatif, and on request coz, for a prediction of the
// same gains, interleaved with the truth so that a machine whose speed drifts drifts for both. Then it
// prints one table: truth, prediction with its interval, error, coz's error.
//
//	go run ./accuracy [-only NAMES] [-seconds 20] [-levels 25,50,75,100] [-coz] [-quick] [-json FILE]
//
// The normal sequence of calls: [build] a [program], then [study] it (a [truthRun] in rounds, a [predictor] in
// chunks, a [cozRun]), which gives a [result]; [summarize] all results; print. README.md explains the method.
package main
