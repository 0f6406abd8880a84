package tui

import (
	"context"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"koordinator.sh/koord/source"
)

// configured is the configuration, value by value with what is noticed about each.
type configured struct {
	*source.Configuration
	rows    []settingRow
	missing []string
}

// settings are what the screens of the configuration share: its values, and whether the user may change them.
type settings struct {
	*Model
	rows list[*configured, settingRow]
	// whyNot is why the user may not write the configuration; empty where the user may.
	whyNot feed[string]
	// set leaves out what has its default.
	set bool
	// changes is what is done with them.
	changes *changes
}

func settingObject(name string) object { return object{kind: source.Kind{Name: "setting"}, name: name} }

// ask asks for the configuration, and once whether it may be changed.
func (s *settings) ask() tea.Cmd {
	src := s.source
	cmd := s.rows.ask(s.Model, "configuration", func(ctx context.Context) (*configured, error) { return askConfiguration(ctx, src) })
	if s.readOnly || s.whyNot.known {
		return cmd
	}
	return tea.Batch(cmd, ask(s.Model, &s.whyNot, "rights", func(ctx context.Context) (string, error) { return askMayWrite(ctx, src) }))
}

func askConfiguration(ctx context.Context, src source.Source) (*configured, error) {
	configurator, err := offered[source.Configurator](src, "read the configuration")
	if err != nil {
		return nil, err
	}
	current, err := configurator.Configuration(ctx, "")
	if err != nil {
		return nil, err
	}
	out := &configured{Configuration: current, missing: slices.Clone(current.Incomplete)}
	nodes, err := configurator.ConfigurationNodes(ctx)
	if err != nil && !forbidden(err) {
		return nil, err
	}
	if err != nil {
		out.missing = append(out.missing, err.Error()+": whether node strategies select nodes is unknown")
	}
	out.rows = settingRows(current, current.Judge(current.Data, nodes))
	return out, nil
}

// askMayWrite says why the user may not write. A source that does not know lets the API server decide when it comes to that.
func askMayWrite(ctx context.Context, src source.Source) (string, error) {
	authorizer, ok := src.(source.ConfigurationAuthorizer)
	if !ok {
		return "", nil
	}
	return authorizer.MayWriteConfiguration(ctx, "")
}

// withheld says why the configuration cannot be changed here; empty where it can.
func (s *settings) withheld(*page) string {
	if s.readOnly {
		return "the terminal interface was started with --readonly"
	}
	return s.whyNot.value
}

// names are the key paths that are known, for completion.
func (s *settings) names() []string {
	var out []string
	for i := range s.rows.table.Rows() {
		out = append(out, s.rows.table.Rows()[i].name)
	}
	return out
}

// row of a setting; nil where the configuration has none of the name.
func (s *settings) row(name string) *settingRow {
	if s.rows.value == nil {
		return nil
	}
	all := s.rows.value.rows
	at := slices.IndexFunc(all, func(r settingRow) bool { return strings.EqualFold(r.name, name) })
	if at < 0 {
		return nil
	}
	return &all[at]
}
