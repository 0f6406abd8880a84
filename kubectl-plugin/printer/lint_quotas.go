package printer

import (
	"fmt"
	"io"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/phrase"
)

// QuotaLints prints the quotas of manifests with what koord-manager would answer, what is wrong with them, and how many that are.
func QuotaLints(w io.Writer, list *diagnosticsv1alpha1.QuotaLintList, o Options) error {
	t := table{columns: []column{{header: "QUOTA", flexible: 12}, {header: "ANSWER", says: true}, {header: "FILE", flexible: 10, drop: 1}, {header: "DOCUMENT", right: true}}}
	refused := 0
	var found []diagnosticsv1alpha1.Finding
	for i := range list.Items {
		q := &list.Items[i]
		answer := painted(Good, "admitted")
		switch {
		case q.Refused:
			refused++
			answer = painted(Bad, "refused")
		case len(q.Findings) > 0:
			answer = painted(Warn, "warned")
		}
		t.add(text(q.Namespace+"/"+q.Name), answer, text(q.File), text(fmt.Sprint(q.Document)))
		found = append(found, q.Findings...)
	}
	if _, err := t.render(w, o); err != nil {
		return err
	}
	if err := findings(w, found, o); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s, of which koord-manager would refuse %d\n", phrase.Counted(len(list.Items), "quota"), refused)
	return err
}
