package printer

import (
	"cmp"
	"io"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/decision/config/configplan"
	"koordinator.sh/koord/decision/config/configuration"
	"koordinator.sh/koord/decision/core/phrase"
)

// unset stands for a value that is not set.
const unset = "<unset>"

// ConfigSettings prints settings before and after; where nothing differs, nothing.
func ConfigSettings(w io.Writer, changes []configplan.SettingChange, o Options) error {
	if len(changes) == 0 {
		return nil
	}
	return settingChanges(w, changes, 0, o)
}

func settingChanges(w io.Writer, changes []configplan.SettingChange, indent int, o Options) error {
	t := table{indent: indent, columns: []column{
		{header: "SETTING", flexible: 36}, {header: "OLD", flexible: 8}, {header: "NEW", flexible: 8}, {header: "LAYER", drop: 1, flexible: 12, says: true},
		{header: "WRITTEN-TO", wide: true},
	}}
	for _, c := range changes {
		t.add(text(configuration.JoinKey(c.Key, c.Path)), painted(Dim, cmp.Or(c.Old, unset)), painted(Strong, cmp.Or(c.New, unset)),
			text(layerChange(c)), text(c.Field))
	}
	_, err := t.render(w, o)
	return err
}

// layerChange names the layer, and the one before where it is another.
func layerChange(c configplan.SettingChange) string {
	switch {
	case c.OldLayer == c.NewLayer || c.OldLayer == "":
		return c.NewLayer
	case c.NewLayer == "":
		return c.OldLayer
	}
	return c.OldLayer + ">" + c.NewLayer
}

// ConfigSettingsInForce prints settings with the layer each comes from.
func ConfigSettingsInForce(w io.Writer, settings []configuration.SettingInForce, o Options) error {
	t := table{columns: []column{{header: "SETTING", flexible: 40}, {header: "VALUE", flexible: 12}, {header: "LAYER", flexible: 16, says: true}, {header: "FOR", wide: true}}}
	for _, s := range settings {
		role := Strong
		if s.Layer == "default" {
			role = Dim
		}
		t.add(text(configuration.JoinKey(s.Key, s.Path)), painted(role, s.Value), text(s.Layer), text(s.Strategy))
	}
	_, err := t.render(w, o)
	return err
}

// ConfigFields prints what is known of fields: of one a paragraph, of several a table.
func ConfigFields(w io.Writer, fields []configuration.FieldDocumentation, o Options) error {
	if len(fields) == 1 {
		return configField(w, fields[0], o)
	}
	t := table{columns: []column{
		{header: "FIELD", flexible: 36}, {header: "KIND", drop: 2}, {header: "DEFAULT", flexible: 10}, {header: "ALLOWED", drop: 3, flexible: 20}, {header: "DESCRIPTION", drop: 1, flexible: 30, says: true},
	}}
	for _, f := range fields {
		t.add(text(f.Path), text(f.Kind), text(cmp.Or(f.Default, unset)), text(f.Range), text(f.Description))
	}
	_, err := t.render(w, o)
	return err
}

func configField(w io.Writer, f configuration.FieldDocumentation, o Options) error {
	var b strings.Builder
	wrapped(&b, o, 0, o.Style.Paint(Strong, o.Style.Clean(configuration.JoinKey(f.Key, f.Path))))
	if f.Description != "" {
		wrapped(&b, o, 2, o.say(f.Description))
	}
	b.WriteString("\n")
	for _, row := range []struct{ name, value string }{{"kind", f.Kind}, {"allowed", f.Range}, {"default", cmp.Or(f.Default, unset)}, {"feature of the agent", f.Feature}} {
		if row.value != "" {
			wrapped(&b, o, 2, o.Style.Paint(Dim, o.label(row.name))+o.say(row.value))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// ConfigRevision is one kept state of the configuration.
type ConfigRevision struct {
	// Number of the revision.
	Number int64
	// Time it was kept, User who wrote it and Cause, the command.
	Time        time.Time
	User, Cause string
	// InForce is true when the ConfigMap holds it.
	InForce bool
	// Changes against the revision before.
	Changes []configplan.SettingChange
}

// ConfigHistory prints revisions, one a line.
func ConfigHistory(w io.Writer, revisions []ConfigRevision, o Options) error {
	t := table{columns: []column{
		{header: "REVISION", right: true}, {header: "AGE"}, {header: "USER", drop: 1, flexible: 10}, {header: "CHANGED", flexible: 24, says: true}, {header: "CAUSE", drop: 2, flexible: 20, says: true},
	}}
	for _, r := range revisions {
		number := painted(Plain, Quantity(r.Number, "count"))
		if r.InForce {
			number = painted(Good, Quantity(r.Number, "count")+"*")
		}
		t.add(number, text(Age(o.Now, &metav1.Time{Time: r.Time})), text(cmp.Or(r.User, none)), text(changesInBrief(r.Changes, o)), text(r.Cause))
	}
	_, err := t.render(w, o)
	return err
}

// changesInBrief is the first change and how many more there are.
func changesInBrief(changes []configplan.SettingChange, o Options) string {
	if len(changes) == 0 {
		return none
	}
	first := changes[0]
	text := first.Path + " " + cmp.Or(first.Old, unset) + o.Style.Arrow() + cmp.Or(first.New, unset)
	if more := len(changes) - 1; more > 0 {
		text += " and " + phrase.Counted(more, "other")
	}
	return text
}
