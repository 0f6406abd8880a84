package labelpolicy

import (
	"fmt"
	"strconv"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/podvalidation"
)

// rule is one thing that must hold, and the words in which podvalidation says that it does not.
type rule struct {
	code finding.Code
	// holds is true for pods that are as they must be.
	holds string
	// text is an expression for a string: field and message.
	text string
}

func (r rule) validation() admissionregistrationv1.Validation {
	tail := " (" + string(r.code) + ")"
	if entry, ok := finding.Lookup(r.code); ok {
		tail += ". " + entry.Fix.English
	}
	return admissionregistrationv1.Validation{Expression: r.holds, MessageExpression: r.text + " + " + quote(tail), Reason: new(metav1.StatusReasonForbidden)}
}

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
		{Name: "created", Expression: "oldObject == null"},
		{Name: "labels", Expression: of("object", "labels")},
		{Name: "annotations", Expression: of("object", "annotations")},
		{Name: "oldLabels", Expression: "oldObject == null ? {} : " + of("oldObject", "labels")},
		{Name: "qos", Expression: fmt.Sprintf(`[variables.labels[?%s].orValue("")].map(q, q in %s ? q : "")[0]`, quote(extension.LabelPodQoS), list(extension.QoSClasses()))},
		{Name: "band", Expression: band("object", "variables.labels")},
		{Name: "oldBand", Expression: `oldObject == null ? "" : ` + band("oldObject", "variables.oldLabels")},
		{Name: "batch", Expression: wantsBatch()},
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
		code: finding.AdmissionReservePod, holds: fmt.Sprintf("!variables.created || !(%s in variables.annotations)", quote(podvalidation.AnnotationReservePod)),
		text: quote("annotations." + podvalidation.AnnotationReservePod + ": " + podvalidation.ReservePodForbidden),
	}}
	for _, key := range podvalidation.ImmutableLabels() {
		out = append(out, rule{
			code: finding.AdmissionFieldImmutable, holds: fmt.Sprintf("variables.created || variables.labels[?%[1]s] == variables.oldLabels[?%[1]s]", quote(key)),
			text: immutable("labels."+key, fmt.Sprintf(`variables.labels[?%s].orValue("")`, quote(key)), fmt.Sprintf(`variables.oldLabels[?%s].orValue("")`, quote(key))),
		})
	}
	out = append(out, rule{
		code: finding.AdmissionFieldImmutable, text: immutable("spec.priority", "variables.band", "variables.oldBand"),
		holds: fmt.Sprintf("variables.created || %s in variables.labels || variables.band == variables.oldBand", quote(extension.LabelPodPriorityClass)),
	}, rule{
		code: finding.AdmissionBatchNeedsBE, holds: fmt.Sprintf("!variables.created || variables.qos == %s || !(variables.batch)", quote(string(extension.QoSBE))),
		text: quote("labels." + extension.LabelPodQoS + ": " + podvalidation.BatchNeedsBE),
	})
	if options.SkipPriority {
		return out
	}
	return append(out, combination())
}

// immutable words a field that changed from one value to another.
func immutable(field, after, before string) string {
	return fmt.Sprintf(`%s + %s + %s + %s + %s`, quote(field+`: Invalid value: "`), after, quote(`": field is immutable, it was "`), before, quote(`"`))
}

// combination forbids the priority bands that do not go with a QoS class.
func combination() rule {
	var forbidden []string
	for _, qos := range extension.QoSClasses() {
		if bands := podvalidation.Forbidden(qos); len(bands) > 0 {
			forbidden = append(forbidden, fmt.Sprintf("(variables.qos == %s && variables.band in %s)", quote(string(qos)), list(bands)))
		}
	}
	return rule{
		code: finding.AdmissionClassForbidden, holds: fmt.Sprintf("!variables.created || !(%s)", strings.Join(forbidden, " || ")),
		text: fmt.Sprintf(`%s + variables.qos + " and priorityClass=" + variables.band + " cannot be used in combination"`, quote("Pod: Forbidden: "+extension.LabelPodQoS+"=")),
	}
}
