package sandbox

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"koordinator.sh/koord/messages"
	"koordinator.sh/koord/sandbox/control"
)

func step(name, detail string, phase control.Phase, from, to float64) control.Step {
	s := control.Step{Name: name, Detail: detail, Phase: phase, StartedAt: after(from)}
	if phase == control.Done || phase == control.Failed {
		s.EndedAt = after(to)
	}
	return s
}

// aStart is what a supervisor says while a sandbox starts, by the second.
var aStart = []struct {
	at    float64
	steps []control.Step
}{
	{0.1, nil},
	{0.4, []control.Step{step("certificates and configuration", "", control.Running, 0.2, 0)}},
	{1.5, []control.Step{
		step("certificates and configuration", "", control.Done, 0.2, 0.72), step("wait for etcd", "", control.Running, 0.72, 0),
	}},
	{11.2, []control.Step{
		step("certificates and configuration", "", control.Done, 0.2, 0.72), step("wait for etcd", "", control.Running, 0.72, 0),
	}},
	{19, []control.Step{
		step("certificates and configuration", "", control.Done, 0.2, 0.72), step("wait for etcd", "", control.Done, 0.72, 18.9),
		step("install the Helm chart", "", control.Running, 18.9, 0), step("register nodes", "27 of 30", control.Running, 18.9, 0),
	}},
	{23, []control.Step{
		step("certificates and configuration", "", control.Done, 0.2, 0.72), step("wait for etcd", "", control.Done, 0.72, 18.9),
		step("install the Helm chart", "", control.Running, 18.9, 0), step("register nodes", "30 of 30", control.Done, 18.9, 22.14),
	}},
	{24, []control.Step{
		step("certificates and configuration", "", control.Done, 0.2, 0.72), step("wait for etcd", "", control.Done, 0.72, 18.9),
		step("install the Helm chart", "", control.Failed, 18.9, 24), step("register nodes", "30 of 30", control.Done, 18.9, 22.14),
	}},
}

func TestProgress(t *testing.T) {
	tests := map[string]struct {
		terminal bool
		say      func(string) string
	}{
		"terminal":    {terminal: true, say: untranslated},
		"piped":       {say: untranslated},
		"zh-terminal": {terminal: true, say: messages.Chinese.Text},
		"zh-piped":    {say: messages.Chinese.Text},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			at := start
			c := english(&out)
			c.say = test.say
			p := c.newProgress(test.terminal, func() time.Time { return at })
			for _, moment := range aStart {
				at = *after(moment.at)
				p.show(&control.Status{Steps: moment.steps})
				out.WriteString("|\n") // where one look at the sandbox ends
			}
			p.clear()
			golden(t, "progress-"+name, strings.ReplaceAll(out.String(), "\r\x1b[K", "<clear>"))
			if !test.terminal && strings.ContainsAny(out.String(), "\r\x1b") {
				t.Error("what is piped holds control characters")
			}
			if p.elapsed() != 24*time.Second {
				t.Errorf("elapsed() = %s; want 24s", p.elapsed())
			}
		})
	}
}

func TestProgressFitsATerminal(t *testing.T) {
	var out bytes.Buffer
	at := start
	p := english(&out).newProgress(true, func() time.Time { return at })
	at = *after(3599.9)
	p.show(&control.Status{Steps: []control.Step{step(strings.Repeat("wäit ", 40), "", control.Running, 0, 0)}})
	if got := len([]rune(out.String())); got > 80 {
		t.Errorf("the line has %d columns; want at most 80: %q", got, out.String())
	}
}

// TestProgressOfAnotherVersion: a supervisor of another version may leave out what this one always says.
func TestProgressOfAnotherVersion(t *testing.T) {
	var out bytes.Buffer
	p := english(&out).newProgress(false, func() time.Time { return start })
	p.show(&control.Status{Steps: []control.Step{{Name: "wait for etcd", Phase: control.Done}, {Phase: "Skipped"}}})
	if got := out.String(); !strings.Contains(got, "done  wait for etcd") {
		t.Errorf("progress = %q; want the step", got)
	}
}
