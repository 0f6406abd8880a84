package configmerge

import (
	"maps"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"koordinator.sh/koord/api/finding"
)

// Config is the whole configuration, merged as far as it can be without a node. It is immutable and safe for concurrent
// use; the zero value is not usable, start from Default or Parse.
type Config struct {
	sections map[string]*layered
	// problems are what was wrong when the sections were read.
	problems []Problem
}

// layered is one key of the configuration: the cluster's merged values, and those of every node strategy on top.
type layered struct {
	// text is the JSON the section was read from; empty for the built-in default.
	text string
	base overlay
	// entries in the order of the ConfigMap.
	entries []nodeEntry
	// rendered holds what the section means for a node, by index of the entry; the last is for nodes that match none.
	rendered []part
}

// nodeEntry is one node strategy merged over the cluster's values.
type nodeEntry struct {
	layer    string
	selector labels.Selector
	merged   overlay
}

// Default is the built-in configuration: everything disabled. The problems say why it is in force.
func Default(problems ...Problem) Config {
	config := Config{sections: map[string]*layered{}, problems: problems}
	for _, s := range sections() {
		config.sections[s.key] = builtIn(s)
	}
	return config
}

// Gone is the configuration while there is no ConfigMap: the last one that was in force stays in force, because to delete a ConfigMap
// says of no value what it should be. Where there was none, or none with any key, the built-in defaults are in force.
func Gone(last Config) Config {
	if len(last.Data()) == 0 {
		return Default(missing("built-in defaults are in force", "koordctl install"))
	}
	return Config{
		sections: maps.Clone(last.sections),
		problems: []Problem{missing("the last valid configuration stays in force", "koordctl config rollback")},
	}
}

func missing(inForce, hint string) Problem {
	return Problem{Code: finding.ConfigMissing, Key: "slo-controller-config", Message: "the ConfigMap does not exist; " + inForce, Hint: hint}
}

// Parse reads the data of ConfigMap slo-controller-config. Each key stands for itself: one that has any problem keeps its
// built-in default, the others take effect. All problems are returned, in the order of keys and then of lines.
func Parse(data map[string]string) (Config, []Problem) {
	config := Config{sections: map[string]*layered{}}
	for _, s := range sections() {
		result := builtIn(s)
		if text, ok := data[s.key]; ok {
			parsed, problems := parseSection(s, text)
			config.problems = append(config.problems, problems...)
			if parsed != nil && len(problems) == 0 {
				result = render(s, parsed)
			}
		}
		config.sections[s.key] = result
	}
	return config, config.Problems()
}

// ParseValid is Parse but for keys with a problem: of them, what is not wrong is merged all the same, so that it can be
// judged. It must not be put in force.
func ParseValid(data map[string]string) (Config, []Problem) {
	config, problems := Parse(data)
	for _, problem := range problems {
		s := sectionOf(problem.Key)
		if s.key == "" {
			continue
		}
		if parsed, _ := parseSection(s, data[s.key]); parsed != nil {
			config.sections[s.key] = render(s, parsed)
		}
	}
	return config, problems
}

// KeepLastGood replaces every key of next that was rejected by the same key of last, so that a bad edit changes nothing.
// The problems of next stay.
func KeepLastGood(last, next Config) Config {
	out := Config{sections: maps.Clone(next.sections), problems: next.problems}
	for _, problem := range next.problems {
		if kept, ok := last.sections[problem.Key]; ok && problem.Rejects() {
			out.sections[problem.Key] = kept
		}
	}
	return out
}

// Problems lists what was wrong when the configuration was read.
func (c Config) Problems() []Problem { return slices.Clone(c.problems) }

// Data is the text of every key in force, for storing it; keys at their built-in default are absent.
func (c Config) Data() map[string]string {
	data := map[string]string{}
	for key, section := range c.sections {
		if section.text != "" {
			data[key] = section.text
		}
	}
	return data
}

// EqualIn reports whether some keys of two configurations were read from the same text with the same problems.
func (c Config) EqualIn(other Config, keys ...string) bool {
	for _, key := range keys {
		if c.textOf(key) != other.textOf(key) || !slices.Equal(c.problemsOf(key), other.problemsOf(key)) {
			return false
		}
	}
	return true
}

// textOf is what a key was read from; empty for the built-in default.
func (c Config) textOf(key string) string {
	if section := c.sections[key]; section != nil {
		return section.text
	}
	return ""
}

// builtIn is a section at its default. It is shared and must not be modified.
func builtIn(s section) *layered { return builtIns()[s.key] }

var builtIns = sync.OnceValue(func() map[string]*layered {
	out := map[string]*layered{}
	for _, s := range sections() {
		base := newOverlay()
		// The defaults are constants of this module; a test proves that each can be encoded.
		if values, err := toObject(s.fallback); err == nil {
			base.add(LayerDefault, values)
		}
		out[s.key] = render(s, &layered{base: base})
	}
	return out
})

// match finds the first entry that selects a node, and the layers of the others that do too. The index of "none" is the
// number of entries.
func (l *layered) match(node *corev1.Node) (index int, others []string) {
	index = len(l.entries)
	for i := range l.entries {
		if !l.entries[i].selector.Matches(labels.Set(node.Labels)) {
			continue
		}
		if index == len(l.entries) {
			index = i
			continue
		}
		others = append(others, l.entries[i].layer)
	}
	return index, others
}

// overlayAt is the merged values of an entry, or the cluster's when the index is that of none.
func (l *layered) overlayAt(index int) overlay {
	if index < len(l.entries) {
		return l.entries[index].merged
	}
	return l.base
}
