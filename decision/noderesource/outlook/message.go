package outlook

import (
	"cmp"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"
)

// message is the outlook in one sentence.
func (d *decision) message() string {
	steps := d.answer.Steps
	placed, last := steps[0].Copies, &steps[len(steps)-1]
	if len(steps) == 1 || last.Unpredicted == placed && len(steps) == 2 {
		return "for how long they keep what they request is unknown: " + d.problem()
	}
	if last.WithinSeconds == nil {
		return kept(last.Copies, placed) + " while services use no more than the peak that koordlet learned; when it comes is not predicted" +
			unpredicted(last.Unpredicted, "; of %d it is not predicted")
	}
	text := kept(last.Copies, placed) + " for the next " + Within(*last.WithinSeconds)
	for i := 1; i < len(steps); i++ {
		if steps[i].Copies+steps[i].Unpredicted >= placed {
			continue
		}
		if until := *steps[i-1].WithinSeconds; until > 0 {
			text += "; the first may lose it after " + Within(until)
		} else {
			text += "; the first may lose it at any time"
		}
		break
	}
	return text + unpredicted(last.Unpredicted, "; of %d it is not predicted that far")
}

// kept says how many pods keep their resources.
func kept(n, of int32) string {
	switch {
	case of == 1 && n == 1:
		return "it keeps what it requests"
	case n == of:
		return fmt.Sprintf("all %d keep what they request", of)
	case n == 0:
		return fmt.Sprintf("none of %d keeps what it requests", of)
	case n == 1:
		return fmt.Sprintf("1 of %d keeps what it requests", of)
	}
	return fmt.Sprintf("%d of %d keep what they request", n, of)
}

// unpredicted says in a format of how many pods nothing is predicted; empty where there are none.
func unpredicted(n int32, format string) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(format, n)
}

// problem is why nothing is predicted, by the first node that says so.
func (d *decision) problem() string {
	for i := range d.in.Nodes {
		node := &d.in.Nodes[i]
		if node.Problem != "" {
			return node.Problem
		}
		for _, resource := range d.resources {
			if offer := node.of(resource); offer != nil && len(offer.Steps) == 0 {
				return offer.Note + " (node " + node.Name + ")"
			}
		}
	}
	return "nothing is predicted of the nodes that take them"
}

// Within writes a time ahead: 5h, 24h.
func Within(seconds int64) string {
	d := time.Duration(seconds) * time.Second
	if d%time.Hour == 0 {
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return duration.HumanDuration(cmp.Or(d, time.Second))
}
