# The programs of examples/, compiled by hack/images.sh for both MPIs:
# /opt/cairn-examples/{openmpi,mpich}/NAME
ARG SUITE=bookworm
FROM localhost/cairn-mpi:${SUITE}
COPY examples /opt/cairn-examples
