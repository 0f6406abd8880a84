package policy

import (
	"fmt"
	"strings"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/admission/colocationprofile"
)

// The API server hands quantities over in canonical form and rounded up to thousandths, so one with a fraction ends with
// "m", or with "e-3" when it was written with an exponent.
const (
	isWhole = `!(v.endsWith("m") || v.endsWith("e-3"))`
	inMilli = `(v.endsWith("m") ? int(v.substring(0, size(v) - 1)) : v.endsWith("e-3") ? int(v.substring(0, size(v) - 3)) : quantity(v).asInteger() * 1000)`
)

// canonical writes an integer as a quantity does: 4000 is 4k.
func canonical(integer string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "[%s].map(n, n == 0 ? \"0\" : ", integer)
	for _, unit := range []struct{ size, suffix string }{
		{"1000000000000000000", "E"}, {"1000000000000000", "P"}, {"1000000000000", "T"}, {"1000000000", "G"}, {"1000000", "M"}, {"1000", "k"},
	} {
		fmt.Fprintf(&b, "n %% %s == 0 ? string(n / %s) + %q : ", unit.size, unit.size, unit.suffix)
	}
	b.WriteString("string(n))[0]")
	return b.String()
}

// defineTier defines the tier of the pod as the steps leave it: batch, mid or empty. It is colocationprofile.Tier.
func (p *program) defineTier() {
	label := func(key string) string {
		return p.value(colocationprofile.Field{Area: colocationprofile.Labels, Key: key})
	}
	band := func(class extension.PriorityClass) string {
		limits, _ := class.Band()
		return fmt.Sprintf("n >= %d && n <= %d ? %q", limits.Min, limits.Max, class)
	}
	names, bands := []string{}, []string{}
	for _, b := range extension.PriorityBands() {
		names, bands = append(names, string(b.Class)), append(bands, band(b.Class))
	}
	known := func(name string) string {
		return fmt.Sprintf("[%s].map(n, n in %s ? string(n) : \"\")[0]", name, list(names))
	}
	class := label(extension.LabelPodPriorityClass)
	priority := p.value(colocationprofile.Field{Area: colocationprofile.Priority})
	name := p.value(colocationprofile.Field{Area: colocationprofile.PriorityClassName})
	p.define("band", fmt.Sprintf(`%s.hasValue() ? %s : %s.hasValue() ? [int(%s.value())].map(n, %s : "")[0] : %s`,
		class, known(class+".value()"), priority, priority, strings.Join(bands, " : "), known(name+`.orValue("")`)))
	p.define("tier", fmt.Sprintf(`variables.band == %q || (variables.band == "" && %s.orValue("") == %q) ? "batch" : variables.band == %q ? "mid" : ""`,
		extension.PriorityBatch, label(extension.LabelPodQoS), extension.QoSBE, extension.PriorityMid))
}

// target is the name of resource k in the tier of the pod.
const target = `("kubernetes.io/" + variables.tier + "-" + k)`

// movable is the list of the resources of every container of a list that can be translated, in requests and limits alike.
func movable(containers string) string {
	can := func(section string) string {
		list := "c.resources." + section
		amount := fmt.Sprintf(`[string(%s[k])].all(v, (k == "memory" && %s) || !quantity(v).isGreaterThan(quantity("%d")))`, list, isWhole, colocationprofile.MaxTranslatable)
		return fmt.Sprintf(`(!has(%s) || (!(%s in %s) && (!(k in %s) || %s)))`, list, target, list, list, amount)
	}
	return fmt.Sprintf(`variables.%s.map(c, !variables.translate || !has(c.resources) ? [] : ["cpu", "memory"].filter(k, %s && %s))`,
		containers, can("requests"), can("limits"))
}

// translated is the list of resource maps of all containers of a list, after the translation. Most pods are not translated;
// theirs are the maps as they are, without a look at the amounts.
func translated(containers, section string) string {
	list := fmt.Sprintf("variables.%s[i].resources.%s", containers, section)
	moves := fmt.Sprintf("k in variables.%sMovable[i]", containers)
	amount := fmt.Sprintf(`(k == "cpu" ? %s : %s ? v : %s)`, canonical(inMilli), isWhole, canonical("("+inMilli+" + 999) / 1000"))
	present := fmt.Sprintf("has(variables.%[1]s[i].resources) && has(%[2]s)", containers, list)
	after := fmt.Sprintf(`%[1]s.transformMapEntry(k, v, {%[2]s ? %[3]s : k: %[2]s ? %[4]s : v})`, list, moves, target, amount)
	each := func(value string) string {
		return fmt.Sprintf("lists.range(size(variables.%s)).map(i, %s ? %s : {})", containers, present, value)
	}
	return fmt.Sprintf("variables.translate ? %s : %s", each(after), each(list))
}

// lists of containers with resources, by the variable that holds them.
var lists = []string{"initContainers", "containers"}

// defineResources defines the containers' resources after the translation, which happens when translate is true.
func (p *program) defineResources(translate string) {
	p.define("translate", translate)
	for _, containers := range lists {
		p.define(containers, fmt.Sprintf("has(object.spec.%s) ? object.spec.%s : []", containers, containers))
		p.define(containers+"Movable", movable(containers))
		p.define(containers+"Limits", translated(containers, "limits"))
		p.define(containers+"Requests", translated(containers, "requests"))
	}
}

// resourcePatches write the translated resources.
func resourcePatches() []string {
	var parts []string
	for _, containers := range lists {
		for _, section := range []string{"Limits", "Requests"} {
			key := strings.ToLower(section)
			parts = append(parts, fmt.Sprintf(
				`(variables.translate ? lists.range(size(variables.%[1]s)).filter(i, size(variables.%[1]s%[2]s[i]) > 0).map(i, `+
					`JSONPatch{op: "add", path: "/spec/%[1]s/" + string(i) + "/resources/%[3]s", value: variables.%[1]s%[2]s[i]}) : [])`,
				containers, section, key))
		}
	}
	return parts
}

// defineRepetition defines the entries of the annotation that repeats batch and mid resources, one a container.
func (p *program) defineRepetition() {
	keys := make([]string, len(colocationprofile.Extended))
	for i, name := range colocationprofile.Extended {
		keys[i] = string(name)
	}
	section := func(containers, name string) string {
		source := fmt.Sprintf("variables.%s%s[i]", containers, name)
		return fmt.Sprintf(`[%s.filter(k, k in %s).map(k, "\"" + k + "\":\"" + string(%s[k]) + "\"").join(",")].map(s, s == "" ? "" : "\"%s\":{" + s + "}")[0]`,
			list(keys), source, source, strings.ToLower(name))
	}
	var all []string
	for _, containers := range lists {
		all = append(all, fmt.Sprintf(
			`lists.range(size(variables.%[1]s)).filter(i, %[2]s.exists(k, k in variables.%[1]sLimits[i] || k in variables.%[1]sRequests[i])).map(i, `+
				`"\"" + string(variables.%[1]s[i].name) + "\":{" + [%[3]s, %[4]s].filter(s, s != "").join(",") + "}")`,
			containers, list(keys), section(containers, "Limits"), section(containers, "Requests")))
	}
	p.define("repeated", strings.Join(all, " + "))
}

func repetitionPatch() string {
	return fmt.Sprintf(`(size(variables.repeated) > 0 ? [JSONPatch{op: "add", path: %q, value: "{\"containers\":{" + variables.repeated.sort().join(",") + "}}"}] : [])`,
		pointer(pathOf(colocationprofile.Annotations), extension.AnnotationExtendedResourceSpec))
}
