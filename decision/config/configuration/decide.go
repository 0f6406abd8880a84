package configuration

import (
	"maps"
	"slices"
	"strings"

	"koordinator.sh/koord/api/configuration"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/core/configmerge"
	"koordinator.sh/koord/decision/scheduling/loadaware"
)

// Validate returns everything that is noticed about a configuration, in the order of keys and lines.
func Validate(in Input) []Finding {
	v := newValidation(in)
	v.problems()
	v.unknown()
	v.strategies()
	v.duplicates()
	v.inert()
	v.conflicts()
	v.loops()
	v.paths()
	for i := range v.found {
		v.found[i].complete()
	}
	order(v.found, configuration.Keys())
	return v.found
}

// validation is one configuration as it is judged.
type validation struct {
	in     Input
	config configmerge.Config
	load   *loadaware.Args
	places map[string]map[string]configmerge.Place
	// wrong are the values that cannot be used, by key and path. Nothing is concluded from their absence, nor from a key
	// that cannot be read at all.
	wrong      map[ref]bool
	unreadable map[string]bool
	// defaults are the built-in values.
	defaults map[ref]string
	scopes   []*scope
	found    []Finding
}

func newValidation(in Input) *validation {
	config, problems := configmerge.ParseValid(in.Data)
	v := &validation{in: in, config: config, load: in.LoadAware, places: map[string]map[string]configmerge.Place{}, wrong: map[ref]bool{}, unreadable: map[string]bool{}}
	if v.load == nil {
		v.load = loadaware.DefaultArgs()
	}
	for _, problem := range problems {
		v.wrong[ref{problem.Key, problem.Path}] = true
	}
	for key, text := range in.Data {
		v.places[key] = configmerge.Places(text)
		v.unreadable[key] = len(v.places[key]) == 0
	}
	v.defaults = map[ref]string{}
	for _, key := range configuration.Keys() {
		for _, group := range configmerge.Default().Groups(key) {
			for _, setting := range group.Settings {
				v.defaults[ref{key, setting.Key}] = setting.Value
			}
		}
	}
	v.scopes = v.makeScopes()
	return v
}

// problems are what keeps keys from taking effect.
func (v *validation) problems() {
	for _, problem := range v.config.Problems() {
		v.addProblem(problem)
	}
}

func (v *validation) addProblem(problem configmerge.Problem) {
	v.found = append(v.found, Finding{
		Code: problem.Code, Key: problem.Key, Path: problem.Path, Line: problem.Line, Column: problem.Column,
		Message: sentence(problem.Path, problem.Key, problem.Message), Evidence: v.quote(problem),
	})
}

// sentence puts the name of what is wrong before what is wrong with it, unless the message names it itself.
func sentence(path, key, message string) string {
	name := path[strings.LastIndexByte(path, '.')+1:]
	if name == "" {
		name = key
	}
	if strings.HasPrefix(message, name) || !startsWithVerb(message) {
		return message
	}
	return name + " " + message
}

func startsWithVerb(message string) bool {
	for _, verb := range []string{"must ", "is ", "stands "} {
		if strings.HasPrefix(message, verb) {
			return true
		}
	}
	return false
}

// quote is the line of the text a problem stands in.
func (v *validation) quote(problem configmerge.Problem) []Evidence {
	lines := strings.Split(v.in.Data[problem.Key], "\n")
	if problem.Line < 1 || problem.Line > len(lines) {
		return nil
	}
	const longest = 120
	text := strings.TrimSpace(lines[problem.Line-1])
	if len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "") + "..."
	}
	return []Evidence{{Key: problem.Key, Path: problem.Path, Value: text, Line: problem.Line}}
}

// unknown are the keys and fields that nothing reads.
func (v *validation) unknown() {
	known := configuration.Keys()
	for _, key := range slices.Sorted(maps.Keys(v.in.Data)) {
		if !slices.Contains(known, key) {
			v.found = append(v.found, Finding{
				Code: finding.ConfigUnknownField, Key: key, Message: key + " is not a known key" + nearest(key, known),
				Fix: "Rename or remove the key; the known ones are " + strings.Join(known, ", ") + ".",
			})
			continue
		}
		for _, problem := range configmerge.Unknown(key, v.in.Data[key]) {
			v.addProblem(problem)
		}
	}
}

// nearest suggests the known key that has the most of its words in common with a key.
func nearest(key string, known []string) string {
	best, most := "", 1
	for _, candidate := range known {
		common := 0
		for _, word := range strings.FieldsFunc(strings.ToLower(key), func(r rune) bool { return r == '-' || r == '_' || r == '.' }) {
			if slices.Contains(strings.Split(candidate, "-"), word) {
				common++
			}
		}
		if common > most {
			best, most = candidate, common
		}
	}
	if best == "" {
		return ""
	}
	return ", did you mean " + best + "?"
}

// add takes a finding unless it was concluded from what cannot be read.
func (v *validation) add(f Finding) {
	if v.unreadable[f.Key] || slices.ContainsFunc(f.Evidence, v.doubtful) {
		return
	}
	if place, ok := v.places[f.Key][f.Path]; ok && f.Line == 0 {
		f.Line, f.Column = place.Line, place.Column
	}
	v.found = append(v.found, f)
}

// doubtful says whether a value counts as unset or default only because what stands there, or a part of it, cannot be used.
func (v *validation) doubtful(e Evidence) bool {
	if v.unreadable[e.Key] {
		return true
	}
	for wrong := range v.wrong {
		if e.Line == 0 && wrong.key == e.Key && within(wrong.path, e.Path) {
			return true
		}
	}
	return false
}

// within says whether a path, below whichever strategy, is that of a value or of a part of it.
func within(path, value string) bool {
	path = "." + path + "."
	return strings.Contains(path, "."+value+".") || strings.Contains(path, "."+value+"[")
}

// Severities from the mildest to the worst.
var Severities = []diagnosticsv1alpha1.Severity{
	diagnosticsv1alpha1.SeverityInfo, diagnosticsv1alpha1.SeverityWarning, diagnosticsv1alpha1.SeverityError,
}
