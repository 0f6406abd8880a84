package grants

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apiserver/pkg/authentication/user"
)

// callerHeader says on whose behalf a component asks another. It gives no rights: an answer leaves out what that caller may not do, and
// without it what the component itself may not.
const callerHeader = "Koordinator-Caller"

// SetCaller says on whose behalf a request is made.
func SetCaller(header http.Header, caller user.Info) error {
	info := authenticationv1.UserInfo{Username: caller.GetName(), UID: caller.GetUID(), Groups: caller.GetGroups()}
	for key, values := range caller.GetExtra() {
		if info.Extra == nil {
			info.Extra = map[string]authenticationv1.ExtraValue{}
		}
		info.Extra[key] = values
	}
	text, err := json.Marshal(info)
	if err != nil {
		return fmt.Errorf("encode the caller %q: %w", caller.GetName(), err)
	}
	header.Set(callerHeader, url.QueryEscape(string(text)))
	return nil
}

// Caller reads on whose behalf a request is made; nil when it does not say.
func Caller(header http.Header) (user.Info, error) {
	escaped := header.Get(callerHeader)
	if escaped == "" {
		return nil, nil
	}
	text, err := url.QueryUnescape(escaped)
	if err != nil {
		return nil, fmt.Errorf("decode header %s: %w", callerHeader, err)
	}
	var info authenticationv1.UserInfo
	if err := json.Unmarshal([]byte(text), &info); err != nil {
		return nil, fmt.Errorf("decode header %s: %w", callerHeader, err)
	}
	if info.Username == "" {
		return nil, fmt.Errorf("header %s has no user name", callerHeader)
	}
	extra := map[string][]string{}
	for key, values := range info.Extra {
		extra[key] = values
	}
	return &user.DefaultInfo{Name: info.Username, UID: info.UID, Groups: info.Groups, Extra: extra}, nil
}
