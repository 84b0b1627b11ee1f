// Accuracy measures how accurate whatif's predictions are.
//
// Each program of the suite has one marked line. Accuracy really reduces the work of that line by 25, 50, 75 and 100%,
// and measures the program's gain: the truth. It asks whatif, and on request coz, for predictions of the same gains.
// The measurements of truth and predictions alternate, so that a drift of the machine's speed affects both. Then it
// prints one table: truth, prediction with its interval, error, coz's error.
//
//	go run ./accuracy [-only NAMES] [-seconds 20] [-levels 25,50,75,100] [-coz] [-quick] [-json FILE]
//
// The normal sequence of calls: [build] a [program], then [plan.study] it (a [truthRun] in rounds, a [predictor] in
// chunks, a [cozRun]), which gives a [result]; [summarize] all results; print. README.md explains the method.
package main
