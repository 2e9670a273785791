# Images of the suite's programs, one file for all of them:
#
#   docker build --build-arg BINARY=coordinator --tag redis-stream-coordinator/coordinator .
#   docker build --build-arg BINARY=rscctl --target program --tag redis-stream-coordinator/rscctl .
#
# BINARY is one of the names below. --target service, the default, is for what answers
# /readyz: its container is healthy when the program says so itself. --target program is for
# the others. VERSION and COMMIT are what the program says of itself.
#
# All programs are built in one step, which images of the same sources share. docs/containers.md
# says more; Dockerfile.prebuilt makes the same images of programs that are built already.
ARG GO_IMAGE=golang:1.26-bookworm

FROM ${GO_IMAGE} AS build
WORKDIR /src
ENV CGO_ENABLED=0 GOFLAGS=-buildvcs=false GOWORK=off
# What is downloaded changes seldom, so it is a layer of its own. Most of deploy is for the
# tests of the chart: its program gets what it needs when it is built.
COPY libs/go.mod libs/go.sum libs/
COPY libs/testkit/go.mod libs/testkit/go.sum libs/testkit/
COPY services/coordinator/go.mod services/coordinator/go.sum services/coordinator/
COPY services/admin-gateway/go.mod services/admin-gateway/go.sum services/admin-gateway/
COPY services/monitor/go.mod services/monitor/go.sum services/monitor/
COPY web/go.mod web/go.sum web/
COPY tools/go.mod tools/go.sum tools/
COPY examples/go.mod examples/go.sum examples/
COPY deploy/go.mod deploy/go.sum deploy/
RUN for module in services/coordinator services/admin-gateway services/monitor web tools examples; do \
      (cd "$module" && go mod download) || exit 1; \
    done
COPY libs libs
COPY services services
COPY web web
COPY tools tools
COPY examples examples
COPY deploy/firstuser deploy/firstuser
COPY deploy/cmd/first-user deploy/cmd/first-user
ARG VERSION=
ARG COMMIT=
# With grpcnotrace nothing uses templates, so the linker leaves out what is not called: a third.
RUN build() { \
      (cd "$1" && shift && go build -trimpath -tags grpcnotrace -o /out/ \
        -ldflags "-s -w -X github.com/redis-stream-coordinator/rsc/libs/settings.version=${VERSION}@${COMMIT}" "$@"); \
    } \
    && build services/coordinator ./cmd/coordinator \
    && build services/admin-gateway ./cmd/admin-gateway \
    && build services/monitor ./cmd/monitor \
    && build web ./cmd/console \
    && build tools ./rscctl ./smoke \
    && build examples ./orders-producer ./orders-consumer \
    && build deploy ./cmd/first-user

# Nothing but the program and the authorities of TLS, no shell, not root.
FROM scratch AS program
ARG BINARY=coordinator
ARG VERSION=
ARG COMMIT=
LABEL org.opencontainers.image.title="redis-stream-coordinator/${BINARY}" \
      org.opencontainers.image.description="Group coordination for sharded Redis streams" \
      org.opencontainers.image.source="https://github.com/redis-stream-coordinator/rsc" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${COMMIT}"
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /out/${BINARY} /rsc
USER 65532:65532
ENTRYPOINT ["/rsc"]

FROM program AS service
HEALTHCHECK --interval=5s --timeout=6s --start-period=30s --retries=3 CMD ["/rsc", "--health"]
