package configuration

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/descheduler/pkg/framework/pluginregistry"

	"koordinator.sh/koord/api/descheduler/v1alpha2"
)

// InvalidError is a configuration that is not valid.
type InvalidError struct {
	// Problems are all that was found.
	Problems field.ErrorList
}

// Error names all problems.
func (e *InvalidError) Error() string {
	texts := make([]string, len(e.Problems))
	for i, problem := range e.Problems {
		texts[i] = strings.TrimPrefix(problem.Error(), "<nil>: ")
	}
	return "invalid configuration: " + strings.Join(texts, "; ")
}

// Read decodes a configuration, fills in defaults and validates it. The registry has the plugins that there are, with their arguments. The
// error is an *InvalidError with everything that is wrong.
func Read(data []byte, registry pluginregistry.Registry) (*Configuration, error) {
	decoded, problems := decode(data)
	if decoded == nil {
		return nil, &InvalidError{Problems: problems}
	}
	setDefaults(decoded)
	read := &reader{registry: registry, problems: problems}
	out := read.configuration(decoded)
	if len(read.problems) > 0 {
		slices.SortStableFunc(read.problems, func(a, b *field.Error) int { return strings.Compare(a.Field, b.Field) })
		return nil, &InvalidError{Problems: read.problems}
	}
	return out, nil
}

// A reader validates one configuration.
type reader struct {
	registry pluginregistry.Registry
	problems field.ErrorList
	warnings []string
}

func (r *reader) report(problems ...*field.Error) { r.problems = append(r.problems, problems...) }

func (r *reader) warn(path *field.Path, format string, args ...any) {
	r.warnings = append(r.warnings, path.String()+": "+fmt.Sprintf(format, args...))
}

func (r *reader) configuration(decoded *v1alpha2.DeschedulerConfiguration) *Configuration {
	r.report(validateComponents(decoded)...)
	out := &Configuration{DeschedulerConfiguration: *decoded, Interval: decoded.DeschedulingInterval.Duration}
	out.Nodes = r.selector(decoded.NodeSelector, field.NewPath("nodeSelector"))
	out.Limits = Limits{
		PerNode:      r.limit("maxNoOfPodsToEvictPerNode", decoded.MaxNoOfPodsToEvictPerNode),
		PerNamespace: r.limit("maxNoOfPodsToEvictPerNamespace", decoded.MaxNoOfPodsToEvictPerNamespace),
		Total:        r.limit("maxNoOfPodsToEvictTotal", decoded.MaxNoOfPodsToEvictTotal),
	}
	for name, address := range map[string]*string{"healthzBindAddress": decoded.HealthzBindAddress, "metricsBindAddress": decoded.MetricsBindAddress} {
		if address != nil && *address != "" && *address != "0" {
			r.warn(field.NewPath(name), "has no effect: nothing is served without TLS")
		}
	}
	names := map[string]bool{}
	for i := range decoded.Profiles {
		profile, path := &decoded.Profiles[i], field.NewPath("profiles").Index(i)
		switch {
		case profile.Name == "":
			r.report(field.Required(path.Child("name"), "must be set when there are several profiles"))
		case names[profile.Name]:
			r.report(field.Duplicate(path.Child("name"), profile.Name))
		}
		names[profile.Name] = true
		out.Profiles = append(out.Profiles, r.profile(profile, path))
	}
	slices.Sort(r.warnings)
	out.Warnings = r.warnings
	return out
}

func (r *reader) limit(name string, value *int64) *int64 {
	if value != nil && *value < 0 {
		r.report(field.Invalid(field.NewPath(name), *value, "must not be negative"))
	}
	return value
}

// selector of nodes; everything when it is not set.
func (r *reader) selector(selector *metav1.LabelSelector, path *field.Path) labels.Selector {
	if selector == nil {
		return labels.Everything()
	}
	if problems := metav1validation.ValidateLabelSelector(selector, metav1validation.LabelSelectorValidationOptions{}, path); len(problems) > 0 {
		r.report(problems...)
		return labels.Nothing()
	}
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		r.report(field.Invalid(path, field.OmitValueType{}, err.Error()))
		return labels.Nothing()
	}
	return parsed
}
