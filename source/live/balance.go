package live

import (
	"context"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/core/unknown"
	"koordinator.sh/koord/source/objects"
)

// noBalance is what follows when the configuration of koord-descheduler cannot be used.
const noBalance = "how koord-descheduler judges nodes is unknown"

// balanceSettings reads the configuration of koord-descheduler. It is nil, and no gap, where there is none: koord-descheduler cannot start
// without, so that no plugin judges nodes.
func (s *Source) balanceSettings(ctx context.Context, c *clients, gaps *gaps) (*objects.Descheduler, error) {
	read, err := s.deschedulerConfig(ctx, c)
	if hasCode(err, finding.NotFound) {
		return nil, nil
	}
	return read, gaps.note(err, unknown.DeschedulerConfiguration, noBalance)
}

// addBalance fills in how koord-descheduler judges the nodes of a list.
func addBalance(list *diagnosticsv1alpha1.NodeOverviewList, gaps *gaps, in *objects.BalanceInput) {
	missing := gaps.unknown()
	if because := missing.Because(unknown.DeschedulerConfiguration); because != "" {
		for i := range list.Items {
			list.Items[i].Balance = &diagnosticsv1alpha1.BalanceOverview{State: diagnosticsv1alpha1.BalanceUnknown, Message: because}
		}
		return
	}
	if in.Descheduler == nil {
		return
	}
	in.Unread = missing.Because(unknown.NodeMetrics, unknown.Pods)
	judged, err := objects.Balance(in)
	if err != nil {
		gaps.add(text(err, noBalance))
		return
	}
	for i := range list.Items {
		list.Items[i].Balance = judged[list.Items[i].Name]
	}
}
