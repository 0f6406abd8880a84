package live

import (
	"context"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/finding"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/source/objects"
)

var _ source.GangLister = (*Source)(nil)

// Gangs lists PodGroups and pods at the same time. Where PodGroups are not installed, there are those that pods describe.
func (s *Source) Gangs(ctx context.Context) (*source.Gangs, error) {
	c, err := s.connect()
	if err != nil {
		return nil, err
	}
	return s.gangs(ctx, c, "")
}

// gangs of a namespace, or of all.
func (s *Source) gangs(ctx context.Context, c *clients, namespace string) (*source.Gangs, error) {
	var (
		gaps   gaps
		groups []schedulingsigsv1alpha1.PodGroup
		pods   []corev1.Pod
	)
	group, groupContext := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		pods, err = c.members(groupContext, selection{namespace: namespace}, podListDrop)
		return err
	})
	group.Go(func() (err error) {
		groups, err = c.podGroups(groupContext, namespace)
		if hasCode(err, finding.NotInstalled) {
			return nil
		}
		return gaps.lacks(err, "the rules of gangs with a PodGroup are unknown")
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return &source.Gangs{Items: objects.Gangs(groups, pods, s.options.Clock.Now()), Incomplete: gaps.all()}, nil
}

// podGroups lists the PodGroups of a namespace, or of all.
func (c *clients) podGroups(ctx context.Context, namespace string) ([]schedulingsigsv1alpha1.PodGroup, error) {
	client, err := c.of(source.KindGang)
	if err != nil {
		return nil, err
	}
	return list(ctx, client, requestFor("list", source.KindGang, namespace), selection{namespace: namespace}, splitJSON, func(raw []byte, into *schedulingsigsv1alpha1.PodGroup) error {
		return unmarshalJSON(raw, managedFieldsDrop, into)
	})
}
