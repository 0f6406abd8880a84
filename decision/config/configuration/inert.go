package configuration

import (
	"fmt"
	"strings"

	"koordinator.sh/koord/api/finding"
)

// prerequisite is what settings need to have an effect.
type prerequisite struct {
	key string
	// settings lists those that depend on it, of those that somebody chose.
	settings func(*scope) []string
	// met says whether they have an effect.
	met func(*scope) bool
	// missing names the settings that would have to be different.
	missing []ref
	// because completes "KEY is set and has no effect: ".
	because string
	fix     string
}

// placedSetting is one value where it is set: inert only if it is so wherever it is in force.
type placedSetting struct {
	rule        int
	layer, path string
}

// inert reports settings that have no effect anywhere because what they depend on is missing.
func (v *validation) inert() {
	rules := prerequisites(v.in.Features)
	effective := map[placedSetting]bool{}
	type group struct {
		scope    *scope
		settings []string
	}
	groups := map[placedSetting]*group{}
	var order []placedSetting
	for i, rule := range rules {
		for _, s := range v.scopes {
			met := rule.met(s)
			for _, path := range rule.settings(s) {
				setting, _ := s.get(rule.key, path)
				if met {
					effective[placedSetting{i, setting.Layer, path}] = true
					continue
				}
				at := placedSetting{i, setting.Layer, ""}
				if groups[at] == nil {
					groups[at] = &group{scope: s}
					order = append(order, at)
				}
				if groups[at].scope == s {
					groups[at].settings = append(groups[at].settings, path)
				}
			}
		}
	}
	for _, at := range order {
		var settings []string
		for _, path := range groups[at].settings {
			if !effective[placedSetting{at.rule, at.layer, path}] {
				settings = append(settings, path)
			}
		}
		if len(settings) > 0 {
			v.addInert(rules[at.rule], groups[at].scope, at.layer, settings)
		}
	}
}

func (v *validation) addInert(rule prerequisite, s *scope, layer string, settings []string) {
	format := "%s is set and has no effect: %s"
	if len(settings) > 1 {
		format = "%s are set and have no effect: %s"
	}
	refs := make([]ref, 0, len(settings)+len(rule.missing))
	for _, path := range settings {
		refs = append(refs, ref{rule.key, path})
	}
	f := Finding{
		Code: finding.ConfigInert, Key: rule.key, Path: s.place(refs[0]), Layers: []string{layer}, Nodes: s.nodes,
		Message: fmt.Sprintf(format, list(settings), rule.because),
		Fix:     rule.fix,
	}
	f.Evidence = s.evidence(append(refs, rule.missing...)...)
	v.add(f)
}

// list joins the names of settings, and counts them where they are many.
func list(names []string) string {
	const shown = 4
	if len(names) > shown {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
	}
	if len(names) > 1 {
		return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
	}
	return names[0]
}

// chosen is the settings of a key, of those named, that somebody set.
func chosen(key string, paths ...string) func(*scope) []string {
	return func(s *scope) []string {
		var out []string
		for _, path := range paths {
			if s.deviates(key, path) {
				out = append(out, path)
			}
		}
		return out
	}
}

// others is all settings of a key, or below a path of it, that somebody set, but for those named.
func others(key, below string, except ...string) func(*scope) []string {
	return func(s *scope) []string {
		var out []string
		for _, path := range s.under(key, below) {
			if !matchesAny(path, except) && s.deviates(key, path) {
				out = append(out, path)
			}
		}
		return out
	}
}

func matchesAny(path string, paths []string) bool {
	for _, p := range paths {
		if path == p || strings.HasPrefix(path, p+".") {
			return true
		}
	}
	return false
}

// enabled is met where a switch is on.
func enabled(key, path string) func(*scope) bool {
	return func(s *scope) bool { return s.on(key, path) }
}

// is is met where a setting has one of the values.
func is(key, path string, values ...string) func(*scope) bool {
	return func(s *scope) bool {
		text := s.text(key, path)
		for _, value := range values {
			if text == value {
				return true
			}
		}
		return false
	}
}

// present is met where every one of the settings has a value.
func present(key string, paths ...string) func(*scope) bool {
	return func(s *scope) bool {
		for _, path := range paths {
			if _, ok := s.get(key, path); !ok {
				return false
			}
		}
		return true
	}
}

// refsOf names settings of one key.
func refsOf(key string, paths ...string) []ref {
	out := make([]ref, 0, len(paths))
	for _, path := range paths {
		out = append(out, ref{key, path})
	}
	return out
}
