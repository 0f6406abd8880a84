package labelpolicy

import (
	"fmt"
	"strconv"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/admission/podvalidation"
)

// rule is one thing that must hold, and the words in which podvalidation says that it does not.
type rule struct {
	code finding.Code
	// when is a condition without which the rule holds.
	when string
	// holds is true for pods that are as they must be.
	holds string
	// message is field and message where they are always the same, and expression one for them, with the code, where they are
	// not.
	message, expression string
}

// validation is the rule. The API server evaluates the words of each rule for each pod, also of those that hold, so that they
// cost no more than a look at the condition where the rule does not apply.
func (r rule) validation() admissionregistrationv1.Validation {
	fix := r.code.Remedy()
	out := admissionregistrationv1.Validation{Expression: fmt.Sprintf("!(%s) || %s", r.when, r.holds), Reason: new(metav1.StatusReasonForbidden)}
	if r.expression == "" {
		out.Message = r.message + r.tail() + fix
	} else {
		out.MessageExpression = fmt.Sprintf(`%s ? %s + %s : ""`, r.when, r.expression, quote(fix))
	}
	return out
}

// tail is what podvalidation ends a message with.
func (r rule) tail() string { return " (" + string(r.code) + ")" }

// Whether a pod is created or updated. Each expression and each variable costs the API server more than what these compare.
const (
	created = "oldObject == null"
	updated = "oldObject != null"
)

func quote(text string) string { return strconv.Quote(text) }

func list[T ~string](values []T) string {
	quoted := make([]string, len(values))
	for i, value := range values {
		quoted[i] = quote(string(value))
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// variables are what the rules read of a pod.
func variables() []admissionregistrationv1.Variable {
	of := func(object, field string) string {
		return fmt.Sprintf("has(%[1]s.metadata.%[2]s) ? %[1]s.metadata.%[2]s : {}", object, field)
	}
	return []admissionregistrationv1.Variable{
		{Name: "labels", Expression: of("object", "labels")},
		{Name: "annotations", Expression: of("object", "annotations")},
		{Name: "oldLabels", Expression: "oldObject == null ? {} : " + of("oldObject", "labels")},
		{Name: "qos", Expression: fmt.Sprintf(`[variables.labels[?%s].orValue("")].map(q, q in %s ? q : "")[0]`, quote(extension.LabelPodQoS), list(extension.QoSClasses()))},
		{Name: "band", Expression: band("object", "variables.labels")},
		{Name: "oldBand", Expression: `oldObject == null ? "" : ` + band("oldObject", "variables.oldLabels")},
		{Name: "batch", Expression: wantsBatch()},
		{Name: "changes", Expression: changes()},
	}
}

// band is extension.PodPriorityClass of a pod: by its label, else its priority, else the name of its priority class.
func band(object, labels string) string {
	var names []extension.PriorityClass
	var bands strings.Builder
	for _, b := range extension.PriorityBands() {
		names = append(names, b.Class)
		fmt.Fprintf(&bands, "n >= %d && n <= %d ? %s : ", b.Min, b.Max, quote(string(b.Class)))
	}
	known := func(name string) string { return fmt.Sprintf(`[%s].map(n, n in %s ? n : "")[0]`, name, list(names)) }
	key := quote(extension.LabelPodPriorityClass)
	return fmt.Sprintf(`(%[1]s in %[2]s ? %[3]s : has(%[4]s.spec.priority) ? [int(%[4]s.spec.priority)].map(n, %[5]s"")[0] : %[6]s)`,
		key, labels, known(labels+"["+key+"]"), object, bands.String(), known(fmt.Sprintf(`%s.spec.?priorityClassName.orValue("")`, object)))
}

// wantsBatch is true for pods a container of which requests batch resources, or is limited in them; 0 counts as none.
func wantsBatch() string {
	names := list([]string{string(extension.BatchCPU), string(extension.BatchMemory)})
	var lists []string
	for _, containers := range []string{"containers", "initContainers"} {
		var sections []string
		for _, section := range []string{"requests", "limits"} {
			sections = append(sections, fmt.Sprintf(`(has(c.resources.%[1]s) && %[2]s.exists(k, k in c.resources.%[1]s && sign(quantity(string(c.resources.%[1]s[k]))) != 0))`, section, names))
		}
		lists = append(lists, fmt.Sprintf("(has(object.spec.%[1]s) && object.spec.%[1]s.exists(c, has(c.resources) && (%[2]s)))", containers, strings.Join(sections, " || ")))
	}
	return strings.Join(lists, " || ")
}

// concerned is true for the pods that a rule can refuse: those created with a QoS class, the annotation of a reserve pod or
// batch resources, and those updated with other labels or another priority than before. All other pods meet every rule, and
// the API server evaluates none of them. A match condition knows no variables.
func concerned() string {
	of := func(object, field string) string {
		return fmt.Sprintf("(has(%[1]s.metadata.%[2]s) ? %[1]s.metadata.%[2]s : {})", object, field)
	}
	created := fmt.Sprintf("%s in %s || %s in %s || %s", quote(extension.LabelPodQoS), of("object", "labels"),
		quote(podvalidation.AnnotationReservePod), of("object", "annotations"), wantsBatch())
	return fmt.Sprintf("oldObject == null ? (%s) : (%s != %s || object.spec.?priority != oldObject.spec.?priority || object.spec.?priorityClassName != oldObject.spec.?priorityClassName)",
		created, of("object", "labels"), of("oldObject", "labels"))
}

// rules are those of podvalidation, in its order.
func rules(options podvalidation.Options) []rule {
	out := []rule{{
		code: finding.AdmissionReservePod, when: created, holds: fmt.Sprintf("!(%s in variables.annotations)", quote(podvalidation.AnnotationReservePod)),
		message: "annotations." + podvalidation.AnnotationReservePod + ": " + podvalidation.ReservePodForbidden,
	}}
	out = append(out, rule{
		code: finding.AdmissionFieldImmutable, when: updated, holds: "size(variables.changes) == 0", expression: `variables.changes.join("; ")`,
	}, rule{
		code: finding.AdmissionBatchNeedsBE, when: created, holds: fmt.Sprintf("variables.qos == %s || !(variables.batch)", quote(string(extension.QoSBE))),
		message: "labels." + extension.LabelPodQoS + ": " + podvalidation.BatchNeedsBE,
	})
	if options.SkipPriority {
		return out
	}
	return append(out, combination())
}

// changes is an expression for the list of what an update changes and must not, in the words of podvalidation.
func changes() string {
	var parts []string
	for _, key := range podvalidation.ImmutableLabels() {
		after, before := fmt.Sprintf("variables.labels[?%s]", quote(key)), fmt.Sprintf("variables.oldLabels[?%s]", quote(key))
		parts = append(parts, fmt.Sprintf("(%s == %s ? [] : [%s])", after, before, immutable("labels."+key, after+`.orValue("")`, before+`.orValue("")`)))
	}
	parts = append(parts, fmt.Sprintf("(%s in variables.labels || variables.band == variables.oldBand ? [] : [%s])",
		quote(extension.LabelPodPriorityClass), immutable("spec.priority", "variables.band", "variables.oldBand")))
	return strings.Join(parts, " + ")
}

// immutable words a field that changed from one value to another.
func immutable(field, after, before string) string {
	tail := rule{code: finding.AdmissionFieldImmutable}.tail()
	return fmt.Sprintf(`%s + %s + %s + %s + %s`, quote(field+`: Invalid value: "`), after, quote(`": field is immutable, it was "`), before, quote(`"`+tail))
}

// combination forbids the priority bands that do not go with a QoS class.
func combination() rule {
	var forbidden []string
	for _, qos := range extension.QoSClasses() {
		if bands := podvalidation.Forbidden(qos); len(bands) > 0 {
			forbidden = append(forbidden, fmt.Sprintf("(variables.qos == %s && variables.band in %s)", quote(string(qos)), list(bands)))
		}
	}
	out := rule{code: finding.AdmissionClassForbidden, when: created, holds: fmt.Sprintf("!(%s)", strings.Join(forbidden, " || "))}
	out.expression = fmt.Sprintf(`%s + variables.qos + " and priorityClass=" + variables.band + %s`, quote("Pod: Forbidden: "+extension.LabelPodQoS+"="),
		quote(" cannot be used in combination"+out.tail()))
	return out
}
