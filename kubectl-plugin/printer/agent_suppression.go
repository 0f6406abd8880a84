package printer

import (
	"fmt"
	"io"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// agentSuppression prints what best-effort pods may use, how that came about, and what is in force.
func agentSuppression(w io.Writer, s *diagnosticsv1alpha1.SuppressionExplanation, o Options) error {
	if s == nil {
		return nil
	}
	heading := "Best-effort CPU"
	if s.Policy != "" {
		heading += " (policy " + s.Policy + ")"
	}
	if err := title(w, heading, o); err != nil {
		return err
	}
	role := Plain
	if s.Hold != "" || s.Enabled == nil || *s.Enabled && s.Budget == nil {
		role = Warn
	}
	if err := line(w, o, role, s.Message); err != nil {
		return err
	}
	if s.Budget != nil {
		if err := Waterfall(w, s.Budget, o); err != nil {
			return err
		}
	}
	return suppressionLimits(w, s, o)
}

// suppressionLimits compares what was decided with what is in force.
func suppressionLimits(w io.Writer, s *diagnosticsv1alpha1.SuppressionExplanation, o Options) error {
	decided := s.Enabled != nil && *s.Enabled && (s.Budget != nil || s.Hold != "")
	if !decided && s.EffectiveCPUs == "" && s.EffectiveQuotaMicroseconds == nil {
		return nil
	}
	t := table{indent: 2, columns: []column{{header: "LIMIT"}, {header: "DECIDED"}, {header: "IN-FORCE"}, {header: "WHY", flexible: 20, drop: 1, says: true}}}
	t.add(text("cpus"), text(orNone(s.CPUs)), inForce(s.CPUs, s.EffectiveCPUs), painted(Dim, s.CPUNote))
	t.add(text("quota"), text(quota(s.QuotaMicroseconds)), inForce(quota(s.QuotaMicroseconds), quotaOr(s.EffectiveQuotaMicroseconds, "")), painted(Dim, s.QuotaNote))
	_, err := t.render(w, o)
	return err
}

// inForce is what was read back; unknown where nothing could be.
func inForce(decided, effective string) cell {
	switch {
	case effective == "":
		return painted(Dim, unknown)
	case decided != "" && decided != none && decided != effective:
		return painted(Warn, effective)
	}
	return text(effective)
}

func quota(microseconds *int64) string { return quotaOr(microseconds, none) }

// quotaOr formats a quota as the cores that it is.
func quotaOr(microseconds *int64, missing string) string {
	switch {
	case microseconds == nil:
		return missing
	case *microseconds < 0:
		return "unlimited"
	}
	return fmt.Sprintf("%dus (%s)", *microseconds, QuantityWithUnit(*microseconds/100, diagnosticsv1alpha1.MilliCPU))
}
