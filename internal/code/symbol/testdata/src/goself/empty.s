// A file in assembly allows functions without a body: expanded_old.go.
