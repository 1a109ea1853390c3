//! Work that must not stop halfway: the handler of a call whose client hangs up is dropped wherever it waits, so what
//! is stored and then told to the dispatcher runs in a task of its own.

use crate::problem::ApiError;

/// Runs work to its end, also if the client hangs up meanwhile.
pub(crate) async fn to_end<T: Send + 'static>(
    work: impl Future<Output = Result<T, ApiError>> + Send + 'static,
) -> Result<T, ApiError> {
    match tokio::spawn(work).await {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            // Answered and logged like a panic of the handler itself.
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(ApiError::internal()),
        },
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn work_goes_on_without_its_caller() {
        let (go, gone) = oneshot::channel();
        let (done, finished) = oneshot::channel();
        let mut call = Box::pin(to_end(async move {
            let () = gone.await.map_err(|_| ApiError::internal())?;
            done.send(()).map_err(|()| ApiError::internal())
        }));
        let waits = futures_util::poll!(&mut call);
        assert!(waits.is_pending());
        drop(call);
        go.send(()).expect("the work waits for it");
        finished.await.expect("the work went on");
    }
}
