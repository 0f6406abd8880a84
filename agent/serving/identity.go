package serving

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	x509request "k8s.io/apiserver/pkg/authentication/request/x509"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	authenticationclient "k8s.io/client-go/kubernetes/typed/authentication/v1"
	"k8s.io/utils/clock"

	"koordinator.sh/koord/api/extension"
)

// errUnknown is for clients that show neither a certificate nor a token that the cluster knows.
var errUnknown = errors.New("client is not authenticated")

// longestToken that is asked about, in bytes: what the API server's own header limits leave.
const longestToken = 32 << 10

// identities authenticates clients: by certificates that an authority of the cluster signed, or by tokens that the cluster reviews.
// It may be used by several goroutines.
//
// The API server's own libraries for this link its expression language, which would double what an agent has in memory on each node.
type identities struct {
	certificates authenticator.Request
	reviews      authenticationclient.TokenReviewsGetter
	// answers by the hash of the token.
	answers *cache.Expiring
}

func newIdentities(reviews authenticationclient.TokenReviewsGetter, authorities dynamiccertificates.CAContentProvider, ticks clock.WithTicker) *identities {
	return &identities{
		certificates: x509request.NewDynamic(authorities.VerifyOptions, x509request.CommonNameUserConversion),
		reviews:      reviews, answers: cache.NewExpiringWithClock(ticks),
	}
}

// of a request. The error is errUnknown for a client that is not authenticated, and another one where the cluster could not be asked.
func (i *identities) of(r *http.Request) (user.Info, error) {
	if r.TLS != nil && len(r.TLS.PeerCertificates) > 0 {
		if response, known, err := i.certificates.AuthenticateRequest(r); err == nil && known {
			return response.User, nil
		}
	}
	kind, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	token = strings.TrimSpace(token)
	if !strings.EqualFold(kind, "Bearer") || token == "" || len(token) > longestToken {
		return nil, errUnknown
	}
	hash := sha256.Sum256([]byte(token))
	if answer, found := i.answers.Get(hash); found {
		return answered(answer.(user.Info))
	}
	info, err := i.review(r.Context(), token)
	if err != nil {
		return nil, err
	}
	i.answers.Set(hash, info, tokenBelieved)
	return answered(info)
}

// answered is the answer for an authenticated client, and errUnknown otherwise.
func answered(info user.Info) (user.Info, error) {
	if info.GetName() == "" {
		return nil, errUnknown
	}
	return info, nil
}

// review asks the cluster whose a token is. Tokens for agents alone are taken, and those that are for the API server.
func (i *identities) review(ctx context.Context, token string) (user.Info, error) {
	for _, audiences := range [][]string{{extension.AgentAudience}, nil} {
		review, err := i.reviews.TokenReviews().Create(ctx, &authenticationv1.TokenReview{
			Spec: authenticationv1.TokenReviewSpec{Token: token, Audiences: audiences},
		}, metav1.CreateOptions{})
		if err != nil {
			return nil, fmt.Errorf("review a token: %w", err)
		}
		if review.Status.Authenticated {
			extra := map[string][]string{}
			for key, values := range review.Status.User.Extra {
				extra[key] = values
			}
			of := review.Status.User
			return &user.DefaultInfo{Name: of.Username, UID: of.UID, Groups: of.Groups, Extra: extra}, nil
		}
	}
	return &user.DefaultInfo{}, nil
}

// rememberFor is how long an answer about rights counts.
func rememberFor(allowed bool) time.Duration {
	if allowed {
		return grantBelieved
	}
	return refusalBelieved
}
