package source

import (
	"cmp"
	"context"

	"koordinator.sh/koord/api/finding"
)

// KindsNamed are those of some kinds of which an object has a name, and why others are unseen, such as that the user may not get their objects.
// A kind that is not served has no objects. Where every kind is unseen, or no API server answers, nothing can be said of the name, and the
// error says why.
func KindsNamed(ctx context.Context, reader ObjectReader, kinds []Kind, namespace, name string) (found []Kind, unseen []string, err error) {
	var first error
	for _, kind := range kinds {
		_, err := reader.Object(ctx, kind, namespace, name)
		coded, _ := finding.From(err)
		switch {
		case err == nil:
			found = append(found, kind)
		case coded != nil && coded.Code == finding.NotFound:
		case ctx.Err() != nil, coded != nil && (coded.Code == finding.ClusterUnreachable || coded.Code == finding.CertificateRejected):
			return nil, nil, err
		default:
			unseen, first = append(unseen, err.Error()), cmp.Or(first, err)
		}
	}
	if len(unseen) == len(kinds) {
		return nil, nil, first
	}
	return found, unseen, nil
}
