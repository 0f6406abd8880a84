package configuration

import (
	"cmp"
	"slices"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
)

// Finding is one thing noticed about the configuration.
type Finding struct {
	// Code of the catalogue.
	Code finding.Code `json:"code"`
	// Severity is error where the key does not take effect or must not be written, warning or info.
	Severity diagnosticsv1alpha1.Severity `json:"severity"`
	// Key of the ConfigMap; empty for the ConfigMap as a whole.
	Key string `json:"key,omitempty"`
	// Path of the value inside the key's JSON; empty for the whole key.
	Path string `json:"path,omitempty"`
	// Line and Column of the value in the key's text, from 1; 0 when the value does not stand there.
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
	// FileLine is the line in the file that was checked, from 1; 0 when unknown.
	FileLine int `json:"fileLine,omitempty"`
	// Layers in which it holds: cluster, or the names of node strategies; empty for what does not depend on a layer.
	Layers []string `json:"layers,omitempty"`
	// Nodes it concerns, when nodes were looked at; 0 when not.
	Nodes int `json:"nodes,omitempty"`
	// Message says what was found, in one sentence.
	Message string `json:"message"`
	// Cause says why that is so.
	Cause string `json:"cause,omitempty"`
	// Evidence are the values it was concluded from.
	Evidence []Evidence `json:"evidence,omitempty"`
	// Fix says what to do.
	Fix string `json:"fix,omitempty"`
}

// Evidence is one value a finding was concluded from.
type Evidence struct {
	// Key of the ConfigMap, or the name of another object.
	Key string `json:"key"`
	// Path of the value.
	Path string `json:"path"`
	// Value as text.
	Value string `json:"value"`
	// Layer the value came from: default, cluster, node strategy NAME.
	Layer string `json:"layer,omitempty"`
	// Line of the value in its key's text, from 1; 0 when it does not stand there.
	Line int `json:"line,omitempty"`
}

// Rejects reports whether a finding keeps the configuration from being written.
func (f *Finding) Rejects() bool { return f.Severity == diagnosticsv1alpha1.SeverityError }

// Where names the key, the path and the line on one line.
func (f *Finding) Where() string {
	where := f.Key
	switch {
	case f.Path == "":
	case f.Path[0] == '[':
		where += f.Path
	default:
		where += "." + f.Path
	}
	return where
}

// HasErrors says whether any finding keeps the configuration from being written.
func HasErrors(found []Finding) bool {
	return slices.ContainsFunc(found, func(f Finding) bool { return f.Rejects() })
}

// complete fills in what the catalogue says where the finding does not say it itself.
func (f *Finding) complete() {
	entry, ok := finding.Lookup(f.Code)
	if !ok {
		f.Severity = cmp.Or(f.Severity, diagnosticsv1alpha1.SeverityWarning)
		return
	}
	f.Severity = cmp.Or(f.Severity, diagnosticsv1alpha1.Severity(entry.Severity))
	f.Cause, f.Fix = cmp.Or(f.Cause, entry.Cause.English), cmp.Or(f.Fix, entry.Fix.English)
}

// order sorts findings by key as documented, then by place, then by code.
func order(found []Finding, keys []string) {
	rank := func(key string) int {
		if i := slices.Index(keys, key); i >= 0 {
			return i
		}
		return len(keys)
	}
	slices.SortStableFunc(found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(rank(a.Key), rank(b.Key)), cmp.Compare(a.Key, b.Key), cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Column, b.Column), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Message, b.Message))
	})
}
