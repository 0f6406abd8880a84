// Package runtimeproxy proxies CRI between kubelet and a container runtime without NRI. All calls are forwarded unchanged, except for
// a few calls about pods and containers, before and after which hook servers are called for changes.
package runtimeproxy
