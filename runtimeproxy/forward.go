package runtimeproxy

import (
	"context"
	"errors"
	"io"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// largestMessage is the most that passes in one piece, in bytes: four times what kubelet and containerd take.
const largestMessage = 64 << 20

// shape is how many messages a method takes and gives.
type shape int

const (
	// many messages either way is how methods are treated that are not known.
	many shape = iota
	// single messages either way.
	single
	// answers to one message.
	answers
)

// shapes of the methods of CRI, by their full names.
var shapes = shapesOf(runtimeapi.RuntimeService_ServiceDesc, runtimeapi.ImageService_ServiceDesc)

func shapesOf(services ...grpc.ServiceDesc) map[string]shape {
	out := map[string]shape{}
	for i := range services {
		for j := range services[i].Methods {
			out["/"+services[i].ServiceName+"/"+services[i].Methods[j].MethodName] = single
		}
		for _, stream := range services[i].Streams {
			if !stream.ClientStreams {
				out["/"+services[i].ServiceName+"/"+stream.StreamName] = answers
			}
		}
	}
	return out
}

// handle is called for every call there is.
func (p *Proxy) handle(_ any, stream grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(stream)
	finish := p.metrics.begin(method)
	err := p.pass(method, stream)
	finish(err)
	return err
}

func (p *Proxy) pass(method string, stream grpc.ServerStream) error {
	ctx := stream.Context()
	if incoming, ok := metadata.FromIncomingContext(ctx); ok && len(incoming) > 0 {
		ctx = metadata.NewOutgoingContext(ctx, incoming)
	}
	switch shapes[method] {
	case single:
		return p.single(ctx, method, stream)
	case answers:
		return p.answers(ctx, method, stream)
	}
	return p.many(ctx, method, stream)
}

// single passes one message and its answer.
func (p *Proxy) single(ctx context.Context, method string, stream grpc.ServerStream) error {
	request := &frame{}
	if err := stream.RecvMsg(request); err != nil {
		return err
	}
	defer request.free()
	if call := p.interceptor(method); call != nil {
		return call(ctx, method, request, stream)
	}
	answer := &frame{}
	if err := p.invoke(ctx, method, request, answer, stream); err != nil {
		return err
	}
	return stream.SendMsg(answer)
}

// invoke calls the runtime, and passes its headers and trailers on.
func (p *Proxy) invoke(ctx context.Context, method string, request, answer *frame, stream grpc.ServerStream) error {
	var header, trailer metadata.MD
	err := p.backend.Invoke(ctx, method, request, answer, grpc.Header(&header), grpc.Trailer(&trailer))
	if len(trailer) > 0 {
		stream.SetTrailer(trailer)
	}
	if len(header) > 0 {
		if headerErr := stream.SetHeader(header); err == nil {
			err = headerErr
		}
	}
	return err
}

// answers passes one message, and all that come back for it.
func (p *Proxy) answers(ctx context.Context, method string, stream grpc.ServerStream) error {
	request := &frame{}
	if err := stream.RecvMsg(request); err != nil {
		return err
	}
	defer request.free()
	backend, err := p.backend.NewStream(ctx, &grpc.StreamDesc{StreamName: method, ServerStreams: true}, method)
	if err != nil {
		return err
	}
	if err := backend.SendMsg(request); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if err := backend.CloseSend(); err != nil {
		return err
	}
	return downstream(backend, stream)
}

// many passes messages both ways until the runtime ends the call. What waits for the caller's next message then ends with the
// call itself, when this has returned.
func (p *Proxy) many(ctx context.Context, method string, stream grpc.ServerStream) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	backend, err := p.backend.NewStream(ctx, &grpc.StreamDesc{StreamName: method, ServerStreams: true, ClientStreams: true}, method)
	if err != nil {
		return err
	}
	go func() {
		if err := upstream(stream, backend); err != nil {
			cancel()
		}
	}()
	return downstream(backend, stream)
}

// upstream passes what the caller says. A caller that goes ends the context of the call.
func upstream(stream grpc.ServerStream, backend grpc.ClientStream) error {
	for {
		message := &frame{}
		switch err := stream.RecvMsg(message); {
		case errors.Is(err, io.EOF):
			return backend.CloseSend()
		case err != nil:
			return err
		}
		if err := backend.SendMsg(message); err != nil {
			message.free()
			return nil // the runtime has ended the call, and downstream says how
		}
	}
}

// downstream passes what the runtime says, and how it ends.
func downstream(backend grpc.ClientStream, stream grpc.ServerStream) error {
	header, err := backend.Header()
	if err == nil && len(header) > 0 {
		if err := stream.SendHeader(header); err != nil {
			return err
		}
	}
	for {
		message := &frame{}
		if err := backend.RecvMsg(message); err != nil {
			stream.SetTrailer(backend.Trailer()) // there is one only when the runtime has ended the call
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if err := stream.SendMsg(message); err != nil {
			message.free()
			return err
		}
	}
}

// short is a method without its service.
func short(method string) string { return method[strings.LastIndexByte(method, '/')+1:] }

// code of an error as gRPC has it.
func code(err error) codes.Code { return status.Code(err) }
