//! The gRPC service by which workers of other machines get certificates.

use assay_fleet::{Fleet, ProofRefusal};
use assay_store::StoreError;
use assay_wire::proto::enrolment_server::Enrolment;
use assay_wire::proto::{Certificate, JoinRequest, RenewRequest};
use tonic::{Request, Response, Status};

use super::known::{Applicant, Issued, NotIssued, RemoteWorkers};
use crate::caller::{Caller, check_engine};

#[derive(Clone)]
pub(crate) struct EnrolmentService {
    pub workers: RemoteWorkers,
    /// The fleet, which knows the tickets of workers that were started, and what else proves who they are.
    pub fleet: Fleet,
}

#[tonic::async_trait]
impl Enrolment for EnrolmentService {
    async fn join(&self, request: Request<JoinRequest>) -> Result<Response<Certificate>, Status> {
        let JoinRequest { token, pool, engine, machine, signing_request } = request.into_inner();
        check_engine(self.workers.engines(), &engine)?;
        let signing_request = signing_request.to_vec();
        let issued = if RemoteWorkers::is_token(&token) {
            let applicant = Applicant { pool, machine, signing_request };
            self.workers.join(&token, applicant).await
        } else {
            let enrolled = self.fleet.enrol(&token, &pool).await;
            let claim = enrolled.map_err(|it| status(it.into()))?;
            let applicant = Applicant { pool, machine, signing_request };
            // If this fails or is dropped, the worker may come again with its proof.
            let issued = self.workers.join_started(claim.ticket(), applicant).await;
            if issued.is_ok() {
                claim.issued();
            }
            issued
        };
        issued.map(certificate).map_err(status)
    }

    async fn renew(&self, request: Request<RenewRequest>) -> Result<Response<Certificate>, Status> {
        let Caller::Remote(Some(identity)) = Caller::of(&request) else {
            return Err(status(NotIssued::Unknown));
        };
        let RenewRequest { signing_request } = request.into_inner();
        self.workers.renew(&identity, &signing_request).await.map(certificate).map_err(status)
    }
}

fn certificate(issued: Issued) -> Response<Certificate> {
    let Issued { worker, certificate, lifetime } = issued;
    let (certificate, worker) = (certificate.into(), worker.to_string());
    Response::new(Certificate { certificate, lifetime_us: lifetime.0, worker })
}

fn status(refused: NotIssued) -> Status {
    if let NotIssued::Store(error) = &refused {
        tracing::warn!("a worker gets no certificate: {error}");
        return Status::unavailable(match error {
            StoreError::Conflict(full) => format!(
                "{full}, as many as a server takes: `assay worker remove` makes room, and so does each certificate that \
                 expires"
            ),
            _ => "the server cannot issue certificates now".into(),
        });
    }
    if let NotIssued::Proof(ProofRefusal::Unchecked(why)) = refused {
        tracing::warn!("a worker must ask again for a certificate: {why}");
        return Status::unavailable(why);
    }
    tracing::warn!("a worker is refused: {refused}");
    match refused {
        NotIssued::BadRequest(message) => Status::invalid_argument(message),
        refused => Status::permission_denied(refused.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use tonic::Code;

    use super::*;

    fn check(error: StoreError, told: &str) {
        let status = status(error.into());
        assert_eq!((status.code(), status.message()), (Code::Unavailable, told));
    }

    #[test]
    fn a_worker_is_told_that_there_are_too_many_and_nothing_else_of_the_database() {
        check(
            StoreError::Conflict("4096 workers have joined already".into()),
            "4096 workers have joined already, as many as a server takes: `assay worker remove` makes room, and so does \
             each certificate that expires",
        );
        check(StoreError::NotFound("table"), "the server cannot issue certificates now");
    }
}
