package reservationview

import (
	"cmp"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// Owners say which pods may use a Reservation, a text for each. An owner that names nothing is left out, as the scheduler does.
func Owners(r *schedulingv1alpha1.Reservation) []string {
	var owners []string
	for _, o := range r.Spec.Owners {
		var terms []string
		if o.Object != nil {
			terms = append(terms, referenceText("pod", o.Object.Namespace, o.Object.Name, o.Object.UID))
		}
		if o.Controller != nil {
			c := o.Controller
			terms = append(terms, referenceText(cmp.Or(c.Kind, "controller"), c.Namespace, c.Name, c.UID))
		}
		if o.LabelSelector != nil {
			terms = append(terms, "pods with "+metav1.FormatLabelSelector(o.LabelSelector))
		}
		if len(terms) > 0 {
			owners = append(owners, strings.Join(terms, " and "))
		}
	}
	return owners
}

func referenceText(kind, namespace, name string, uid types.UID) string {
	switch {
	case name != "" && namespace != "":
		return kind + " " + namespace + "/" + name
	case name != "":
		return kind + " " + name
	case uid != "":
		return kind + " with uid " + string(uid)
	case namespace != "":
		return "any " + kind + " in namespace " + namespace
	}
	return "any " + kind
}
