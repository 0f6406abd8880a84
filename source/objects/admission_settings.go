package objects

import (
	"strconv"
	"strings"

	"koordinator.sh/koord/decision/admission/colocationprofile"
	"koordinator.sh/koord/decision/admission/podvalidation"
)

// AdmissionSettings are the flags of koord-manager that admission of pods depends on. The zero value is not what holds by default.
type AdmissionSettings struct {
	Profiles   colocationprofile.Options
	Validation podvalidation.Options
	// QuotaTrees restricts pods of a quota tree to the nodes of its ElasticQuotaProfile.
	QuotaTrees bool
}

// admissionFlags are where the flags of koord-manager go.
var admissionFlags = map[string]func(*AdmissionSettings) *bool{
	"skip-mutating-resources":     func(s *AdmissionSettings) *bool { return &s.Profiles.SkipResources },
	"skip-extended-resource-spec": func(s *AdmissionSettings) *bool { return &s.Profiles.SkipResourceSpec },
	"skip-validating-priority":    func(s *AdmissionSettings) *bool { return &s.Validation.SkipPriority },
	"require-quota":               func(s *AdmissionSettings) *bool { return &s.Validation.RequireQuota },
	"allow-parent-quota":          func(s *AdmissionSettings) *bool { return &s.Validation.AllowParentQuota },
	"protect-quotas":              func(s *AdmissionSettings) *bool { return &s.Validation.ProtectQuotas },
	"quota-trees":                 func(s *AdmissionSettings) *bool { return &s.QuotaTrees },
}

// AdmissionFlags are the names of the flags of koord-manager that are read, with their defaults.
func AdmissionFlags() map[string]bool {
	defaults, out := ReadAdmissionSettings("", nil), map[string]bool{}
	for name, field := range admissionFlags {
		out[name] = *field(&defaults)
	}
	return out
}

// ReadAdmissionSettings reads the settings from the arguments of koord-manager, the last of which counts. What they do not say is as by
// default. A value that koord-manager would not start with is as if it were not there.
func ReadAdmissionSettings(systemNamespace string, arguments []string) AdmissionSettings {
	out := AdmissionSettings{Validation: podvalidation.Options{ProtectQuotas: true}}
	out.Profiles.ExemptNamespaces = []string{"kube-system", systemNamespace}
	for _, argument := range arguments {
		name, value, given := strings.Cut(strings.TrimLeft(argument, "-"), "=")
		field, known := admissionFlags[name]
		if !known {
			continue
		}
		on, err := strconv.ParseBool(value)
		if !given {
			on, err = true, nil
		}
		if err == nil {
			*field(&out) = on
		}
	}
	return out
}
