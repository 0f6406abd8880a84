package printer

import (
	"fmt"
	"io"
	"strings"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/freshness"
	"koordinator.sh/koord/decision/core/phrase"
	"koordinator.sh/koord/decision/noderesource/workersview"
)

// Workers prints why the target of ElasticWorkers has its size, and which workers go.
func Workers(w io.Writer, e *diagnosticsv1alpha1.WorkersExplanation, o Options) error {
	var b strings.Builder
	wrapped(&b, o, 0, workersLine(e, o))
	role := workersRole(e)
	wrapped(&b, o, 2, o.Style.Mark(role)+" "+o.Style.Paint(role, o.say(e.Message)))
	if e.Code != "" {
		wrapped(&b, o, 2, o.Style.Paint(Dim, o.say("code "+e.Code)))
	}
	for _, note := range e.Notes {
		wrapped(&b, o, 2, o.Style.Paint(Dim, o.say(note)))
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	if e.Waterfall != nil {
		if err := title(w, fmt.Sprintf("workers = %d", e.Waterfall.Result), o); err != nil {
			return err
		}
		if err := Waterfall(w, e.Waterfall, o); err != nil {
			return err
		}
	}
	for _, part := range []func(io.Writer, *diagnosticsv1alpha1.WorkersExplanation, Options) error{drainingWorkers, nextWorkers, workersNodes} {
		if err := part(w, e, o); err != nil {
			return err
		}
	}
	return nil
}

func workersLine(e *diagnosticsv1alpha1.WorkersExplanation, o Options) string {
	parts := []string{
		o.Style.Paint(Strong, o.Style.Clean(e.Namespace+"/"+e.Name)), o.say("for " + o.Style.Clean(e.Target)),
		o.say(fmt.Sprintf("%d to %d workers", e.Min, e.Max)),
	}
	if workersview.HasSize(e) {
		parts = append(parts, o.say(fmt.Sprintf("current %d, desired %d", e.Current, e.Desired)))
	}
	if e.DecidedAt != nil {
		parts = append(parts, o.say("decided "+Ago(o.Now, e.DecidedAt)))
	}
	return strings.Join(parts, "; ")
}

// workersStateRole is bad where a mistake keeps the target from being sized.
func workersStateRole(e *diagnosticsv1alpha1.WorkersExplanation) Role {
	switch {
	case e.Code != "":
		return Bad
	case e.State != workersview.Sized:
		return Warn
	}
	return Good
}

// workersRole is that of the state, and also warns of workers that go.
func workersRole(e *diagnosticsv1alpha1.WorkersExplanation) Role {
	if role := workersStateRole(e); role != Good || len(e.Draining) == 0 {
		return role
	}
	return Warn
}

// drainingWorkers lists the workers that drain, with the time that is left.
func drainingWorkers(w io.Writer, e *diagnosticsv1alpha1.WorkersExplanation, o Options) error {
	if len(e.Draining) == 0 {
		return nil
	}
	if err := title(w, "Draining", o); err != nil {
		return err
	}
	t := table{indent: 2, columns: []column{
		{header: "POD", flexible: 30}, {header: "NODE", flexible: 12}, {header: "SINCE"}, {header: "LEFT", right: true}, {header: "PROGRESS", flexible: 20, says: true},
		{header: "REASON", flexible: 20, drop: 1, says: true},
	}}
	for i := range e.Draining {
		worker := &e.Draining[i]
		t.add(text(worker.Name), text(worker.Node), text(Age(o.Now, &worker.Since)), text(timeLeft(worker, o)), text(worker.Message), text(worker.Reason))
	}
	_, err := t.render(w, o)
	return err
}

func timeLeft(worker *diagnosticsv1alpha1.DrainingWorker, o Options) string {
	return seconds(max(freshness.Seconds(worker.Deadline.Time, o.Now), 0))
}

func drainingWords(worker *diagnosticsv1alpha1.DrainingWorker, o Options) string {
	return fmt.Sprintf("%s drains, %s left: %s", worker.Name, timeLeft(worker, o), worker.Message)
}

// nextWorkers lists the workers that go if fewer are wanted.
func nextWorkers(w io.Writer, e *diagnosticsv1alpha1.WorkersExplanation, o Options) error {
	if len(e.Next) == 0 {
		return nil
	}
	if err := title(w, "Next to go if fewer are wanted", o); err != nil {
		return err
	}
	t := table{indent: 2, columns: []column{{header: "POD", flexible: 30}, {header: "NODE", flexible: 12}, {header: "REASON", flexible: 20, says: true}}}
	for _, worker := range e.Next {
		t.add(text(worker.Name), text(worker.Node), text(worker.Reason))
	}
	_, err := t.render(w, o)
	return err
}

// workersNodes lists the nodes with how many workers fit there.
func workersNodes(w io.Writer, e *diagnosticsv1alpha1.WorkersExplanation, o Options) error {
	if len(e.Nodes) == 0 {
		return nil
	}
	if err := title(w, "Nodes", o); err != nil {
		return err
	}
	t := table{indent: 2, columns: []column{
		{header: "NODE", flexible: 16}, {header: "WORKERS", right: true}, {header: "FIT-NOW", right: true}, {header: "FIT-LATER", right: true}, {header: "NOTE", flexible: 16, says: true},
	}}
	for _, node := range e.Nodes {
		t.add(text(node.Name), text(fmt.Sprint(node.Workers)), text(fmt.Sprint(node.Now)), text(fmt.Sprint(node.Later)), text(node.Note))
	}
	if _, err := t.render(w, o); err != nil {
		return err
	}
	if e.NodesOmitted > 0 {
		return line(w, o, Dim, "and "+phrase.Counted(int(e.NodesOmitted), "more node"))
	}
	return nil
}
