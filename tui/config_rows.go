package tui

import (
	"slices"
	"strings"

	apiconfiguration "koordinator.sh/koord/api/configuration"
	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/config/configuration"
	"koordinator.sh/koord/decision/core/configmerge"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/source/proposal"
)

// settingRow is a value of the configuration, or the place of findings that are about no value in force.
type settingRow struct {
	configuration.SettingInForce
	// name is the key path by which it is read and set, and at its place in the list.
	name string
	at   int
	// standard is the built-in default; empty for none.
	standard string
	found    []configuration.Finding
}

func (r *settingRow) isDefault() bool { return r.Layer == configmerge.LayerDefault }

// below is the path of the row in its key.
func (r *settingRow) below() string {
	return strings.TrimPrefix(strings.TrimPrefix(r.name, r.Key), ".")
}

// problem is true where somebody should look at it.
func (r *settingRow) problem() bool {
	return slices.ContainsFunc(r.found, func(f configuration.Finding) bool { return f.Severity != diagnostics.SeverityInfo })
}

// worst is the finding that is shown first; nil where there is none.
func (r *settingRow) worst() *configuration.Finding {
	for _, severity := range []diagnostics.Severity{diagnostics.SeverityError, diagnostics.SeverityWarning, diagnostics.SeverityInfo} {
		for i := range r.found {
			if r.found[i].Severity == severity {
				return &r.found[i]
			}
		}
	}
	return nil
}

func (r *settingRow) reason() string {
	if f := r.worst(); f != nil {
		return f.Message
	}
	return ""
}

// codes of the findings, each once.
func (r *settingRow) codes() string {
	var out []string
	for i := range r.found {
		if code := string(r.found[i].Code); !slices.Contains(out, code) {
			out = append(out, code)
		}
	}
	return strings.Join(out, ",")
}

// settingsOf are the values of all keys: those of the cluster, and what node strategies set themselves.
func settingsOf(config configmerge.Config) []configuration.SettingInForce {
	var out []configuration.SettingInForce
	for _, key := range apiconfiguration.Keys() {
		// A whole key can always be read.
		found, _ := configuration.Read(config, configuration.KeyPath{Key: key})
		out = append(out, found...)
	}
	return out
}

// settingRows are the values with their defaults and findings. Findings about none of them follow, each in a row of its own place.
func settingRows(current *source.Configuration, found []configuration.Finding) []settingRow {
	if !current.Exists {
		return nil
	}
	standard := map[string]string{}
	for _, s := range settingsOf(configmerge.Default()) {
		standard[configuration.JoinKey(s.Key, s.Path)] = s.Value
	}
	var rows []settingRow
	for _, s := range settingsOf(proposal.InForceNow(current)) {
		rows = append(rows, settingRow{SettingInForce: s, name: s.Name(), at: len(rows), standard: standard[configuration.JoinKey(s.Key, s.Path)]})
	}
	for _, f := range found {
		rows = place(rows, f)
	}
	return rows
}

// place adds a finding to the rows that it is about.
func place(rows []settingRow, f configuration.Finding) []settingRow {
	where, placed := inStrategy(&f), false
	for i := range rows {
		r := &rows[i]
		if r.Key == f.Key && r.Path == where && (len(f.Layers) == 0 || slices.Contains(f.Layers, r.Layer)) {
			r.found, placed = append(r.found, f), true
		}
	}
	if placed {
		return rows
	}
	at := slices.IndexFunc(rows, func(r settingRow) bool { return r.name == f.Where() })
	if at < 0 {
		lost := configuration.SettingInForce{Key: f.Key, Path: f.Path}
		at, rows = len(rows), append(rows, settingRow{SettingInForce: lost, name: f.Where(), at: len(rows)})
	}
	rows[at].found = append(rows[at].found, f)
	return rows
}

// inStrategy is the path of a finding inside its strategy, as settings spell it.
func inStrategy(f *configuration.Finding) string {
	path, err := configuration.ParseKeyPath(f.Where())
	if err != nil {
		return f.Path
	}
	return path.InStrategy()
}
