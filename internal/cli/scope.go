package cli

import (
	"whatif/internal/code/sourcepath"
	"whatif/internal/code/symbol/scope"
	"whatif/internal/experiment"
)

// scope reads the flags that say which code is in scope, and where its source files are.
func (r *runFlags) scope(cfg *experiment.Config) error {
	var err error
	if cfg.Paths, err = sourcePaths(r.paths); err != nil {
		return err
	}
	if cfg.Scope.Include, err = scopeRules(r.include); err != nil {
		return err
	}
	if cfg.Scope.Exclude, err = scopeRules(r.exclude); err != nil {
		return err
	}
	cfg.Scope.Shown = cfg.Paths.Apply
	// Targets and points name files by their present paths; binaries have the recorded ones.
	for i := range cfg.Targets {
		cfg.Targets[i].MapFiles(cfg.Paths.Undo)
	}
	for i := range cfg.Points {
		if p := &cfg.Points[i]; p.File != "" {
			p.File = cfg.Paths.Undo(p.File)
		}
	}
	return nil
}

func scopeRules(texts []string) ([]scope.Rule, error) {
	var rules []scope.Rule
	for _, text := range texts {
		rule, err := scope.Parse(text)
		if err != nil {
			return nil, err
		}
		rules = append(rules, rule)
	}
	return rules, nil
}

func sourcePaths(texts []string) (sourcepath.Map, error) {
	var m sourcepath.Map
	for _, text := range texts {
		rule, err := sourcepath.Parse(text)
		if err != nil {
			return nil, err
		}
		m = append(m, rule)
	}
	return m, nil
}
